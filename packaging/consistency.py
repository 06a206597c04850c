"""Compare a wheel with the sdist from which it was built, and with its own list of files."""

import base64
import csv
import hashlib
import re
import tarfile
from email.message import Message
from email.parser import Parser
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

LOCAL_TO_ONE = ("Metadata-Version",)
"""Fields of metadata that may differ between a wheel and its sdist."""


def problems_of_wheel(wheel: Path, sdist: Path) -> list[str]:
    """Return the differences between a wheel and its sdist, one per line: version, metadata, and
    files of the package. In addition, a wheel has exactly one extension module.
    """
    _, version, *tags = wheel.stem.split("-")
    if sdist.name != f"lasthop-{version}.tar.gz":
        return [f"{wheel.name}: is of another version than {sdist.name}"]
    with ZipFile(wheel) as archive, tarfile.open(sdist) as source:
        info, top = f"lasthop-{version}.dist-info", f"lasthop-{version}/"
        problems = problems_of_record(archive, f"{info}/RECORD")
        tag = headers(archive.read(f"{info}/WHEEL").decode()).get("Tag")
        if tag != "-".join(tags):
            problems.append(f"its tag is {tag}")
        described = source.extractfile(f"{top}PKG-INFO")
        of_sdist = fields(described.read().decode() if described else "")
        of_wheel = fields(archive.read(f"{info}/METADATA").decode())
        problems += [f"metadata differ from the sdist: {line}" for line in of_sdist ^ of_wheel]
        members = {member.name.removeprefix(top) for member in source if member.isfile()}
        modules = {name.removeprefix("python/") for name in members if name.startswith("python/")}
        packed = {name for name in archive.namelist() if name.startswith("lasthop/")}
        extensions = {
            name for name in packed if re.fullmatch(r"lasthop/_core\.(abi3\.so|pyd)", name)
        }
        if len(extensions) != 1:
            problems.append(f"has {len(extensions)} extension modules")
        problems += [f"lacks {name}" for name in sorted(modules - packed)]
        problems += [f"has {name}" for name in sorted(packed - modules - extensions)]
    return [f"{wheel.name}: {problem}" for problem in problems]


def problems_of_record(archive: ZipFile, record: str) -> list[str]:
    """Return the files whose length or hash differs from the wheel's list of its files."""
    listed = {}
    for name, digest, length in csv.reader(archive.read(record).decode().splitlines()):
        listed[name] = (digest, length)
    problems = [f"RECORD lists {name}" for name in sorted(listed.keys() - {*archive.namelist()})]
    for name in archive.namelist():
        if name == record:
            continue
        content = archive.read(name)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        if listed.get(name) != (f"sha256={digest}", str(len(content))):
            problems.append(f"{name}: RECORD has another content, or none")
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            problems.append(f"{name}: is outside of the package")
    return problems


def headers(text: str) -> Message:
    """Return the fields of metadata."""
    return Parser().parsestr(text, headersonly=True)


def fields(text: str) -> set[str]:
    """Return the fields of metadata as lines, without those that may differ."""
    return {f"{key}: {value}" for key, value in headers(text).items() if key not in LOCAL_TO_ONE}
