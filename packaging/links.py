"""Check what an extension module for macOS or Windows needs from the system: libraries, the oldest
version of macOS, and on macOS the signature without which processors of Apple do not run it.

`auditwheel` checks the wheels for Linux. `delocate` and `delvewheel` check the others only on their
own systems, so their checks are repeated here with the parsers that they use.
"""

import hashlib
import re
import struct
from pathlib import Path

import pefile
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from macholib.mach_o import LC_BUILD_VERSION, LC_CODE_SIGNATURE, LC_VERSION_MIN_MACOSX
from macholib.MachO import MachO, MachOHeader
from macholib.SymbolTable import SymbolTable

MACOS_LIBRARIES = re.compile(r"/usr/lib/lib(System\.B|charset\.1|iconv\.2)\.dylib")
"""Libraries that every macOS has. The extension finds Python's functions in the process."""

WINDOWS_LIBRARIES = re.compile(
    r"python3|kernel32|ntdll|advapi32|bcryptprimitives|userenv|ws2_32|msvcrt|ucrtbase"
    r"|api-ms-win-(core|crt)-[a-z0-9-]+"
)
"""Names, without `.dll`, of the libraries that Windows 10 and every installation of Python have."""

INITIALISATION = "PyInit__core"
"""Function of the extension that Python calls at the import."""

EMBEDDED_SIGNATURE, CODE_DIRECTORY, SHA256 = 0xFADE0CC0, 0xFADE0C02, 2
"""Numbers in a code signature (`cs_blobs.h` of XNU)."""


def problems_for_macos(library: Path, oldest: tuple[int, int]) -> list[str]:
    """Return the reasons why a macOS of the version `oldest` would not load a library."""
    problems = []
    for header in MachO(str(library)).headers:
        commands = {command.cmd: detail for command, detail, _ in header.commands}
        for _, _, name in header.walkRelocatables():
            if not MACOS_LIBRARIES.fullmatch(name):
                problems.append(f"needs {name}, which not every macOS has")
        version = commands.get(LC_BUILD_VERSION) or commands.get(LC_VERSION_MIN_MACOSX)
        if version is None:
            problems.append("does not name its oldest macOS")
        else:
            packed = version.minos if LC_BUILD_VERSION in commands else version.version
            needed = (packed >> 16, packed >> 8 & 0xFF)
            if needed > oldest:
                problems.append(f"needs macOS {needed[0]}.{needed[1]}")
        signature = commands.get(LC_CODE_SIGNATURE)
        if signature is not None:
            content = library.read_bytes()[header.offset :]
            problems += problems_of_signature(content, signature.dataoff)
        elif is_arm(header):
            problems.append("has no signature")
    return problems


def is_arm(header: MachOHeader) -> bool:
    """Return whether a part of a Mach-O file is for arm64."""
    return bool(header.header.cputype & 0xFF == 12)


def problems_of_signature(content: bytes, begin: int) -> list[str]:
    """Compare the hashes in a code signature with the pages of the file. All numbers in a signature
    are big endian.
    """
    magic, _, count = struct.unpack_from(">III", content, begin)
    if magic != EMBEDDED_SIGNATURE:
        return ["has an unknown kind of signature"]
    for index in range(count):
        _, offset = struct.unpack_from(">II", content, begin + 12 + 8 * index)
        directory_begin = begin + offset
        fields = struct.unpack_from(">9I4B", content, directory_begin)
        magic, _, _, _, hash_offset, _, _, pages, signed_bytes = fields[:9]
        if magic != CODE_DIRECTORY:
            continue
        hash_bytes, hash_type, _, page_log2 = fields[9:]
        if hash_type != SHA256:
            return ["has a signature without SHA-256"]
        page_bytes = 1 << page_log2
        for page in range(pages):
            end = min((page + 1) * page_bytes, signed_bytes)
            actual = hashlib.sha256(content[page * page_bytes : end]).digest()
            stored = directory_begin + hash_offset + page * hash_bytes
            if content[stored : stored + hash_bytes] != actual:
                return ["the signature does not match the content"]
        return []
    return ["has a signature without hashes"]


def problems_of_module(library: Path, platform: str) -> list[str]:
    """Return what keeps Python on a platform, such as `win_amd64`, from importing a library as the
    module `_core`: another file format or processor, or no initialisation function.
    """
    begin = library.read_bytes()[:4]
    arm = platform.endswith(("arm64", "aarch64"))
    try:
        if platform.startswith("manylinux"):
            with library.open("rb") as file:
                elf = ELFFile(file)
                is_processor = elf["e_machine"] == ("EM_AARCH64" if arm else "EM_X86_64")
                symbols = elf.get_section_by_name(".dynsym")
                names = {symbol.name for symbol in symbols.iter_symbols() if symbol["st_value"]}
        elif platform.startswith("macosx"):
            (header,) = MachO(str(library)).headers
            is_processor = header.header.cputype == (0x0100000C if arm else 0x01000007)
            exported = SymbolTable(header.parent).extdefsyms
            names = {name.decode().removeprefix("_") for _, name in exported}
        else:
            with pefile.PE(str(library), fast_load=True) as image:
                is_processor = image.FILE_HEADER.Machine == 0x8664
                image.parse_data_directories(
                    [pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_EXPORT"]]
                )
                names = {each.name.decode() for each in image.DIRECTORY_ENTRY_EXPORT.symbols}
    except (ELFError, pefile.PEFormatError, AttributeError, OSError, ValueError, struct.error):
        return [f"is damaged, or of another system; begins with {begin!r}"]
    problems = [] if is_processor else ["is for another processor"]
    return problems if INITIALISATION in names else [*problems, f"has no function {INITIALISATION}"]


def problems_for_windows(library: Path) -> list[str]:
    """Return the libraries that a DLL needs and that not every Windows has."""
    with pefile.PE(str(library), fast_load=True) as image:
        image.parse_data_directories([pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_IMPORT"]])
        needed = [entry.dll.decode().lower() for entry in image.DIRECTORY_ENTRY_IMPORT]
    return [
        f"needs {name}, which not every Windows has"
        for name in needed
        if not WINDOWS_LIBRARIES.fullmatch(name.removesuffix(".dll"))
    ]
