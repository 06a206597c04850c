"""Check the packages in a folder: names, sizes, contents, metadata, and system requirements."""

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import project

LARGEST_WHEEL = 5_000_000
"""Largest size of a wheel. [bytes]

A wheel without the workbench's page has 3.9 MB. The page has 0.95 MB, most of which is the engine
for browsers. `tests/workbench/test_engine.py` limits the parts of the page.
"""

WHEEL = re.compile(r"lasthop-[\d.]+-cp311-abi3-manylinux_2_28_(x86_64|aarch64)\.whl")

IN_WHEEL = (
    "lasthop/__init__.py",
    "lasthop/_core.abi3.so",
    "lasthop/py.typed",
    "lasthop/cli/completion/share/lasthop.bash",
    "lasthop/enforce/congestion/share/compound.o",
    "lasthop/enforce/gateway/share/lasthop-gateway@.service",
    "lasthop/enforce/queue/share/sharing.o",
    "lasthop/workbench/page/engine.wasm",
    "lasthop/workbench/page/index.html",
    "lasthop/workbench/page/licences.md",
    "lasthop.data/data/share/man/man1/lasthop.1",
    "lasthop.data/data/share/man/man8/lasthop-gateway.8",
)
"""Files that a wheel must contain and that are easily forgotten. The folder `lasthop.data` has the
version in its name in the wheel.
"""

PAGE = "lasthop/workbench/page/"

IN_SDIST = (
    "Cargo.lock",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "README.md",
    "packaging/wheel/data/share/man/man1/lasthop.1",
    "crates/engine/src/lib.rs",
    f"python/{PAGE}engine.wasm",
    f"python/{PAGE}index.html",
)


def main(folder: Path) -> int:
    """Print a description of each package. Return 1 if a package has a problem."""
    wrong: list[str] = []
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if not wheels or len(sdists) != 1:
        wrong.append(f"{folder}: {len(wheels)} wheels and {len(sdists)} sdists")
    for wheel in wheels:
        wrong += problems_of_wheel(wheel)
    for sdist in sdists:
        with tarfile.open(sdist) as archive:
            top = sdist.name.removesuffix(".tar.gz")
            names = [name.removeprefix(f"{top}/") for name in archive.getnames()]
            wrong += missing(sdist, IN_SDIST, names)
            metadata = archive.extractfile(f"{top}/PKG-INFO")
            wrong += problems_of_metadata(sdist, metadata.read() if metadata else b"")
    for path in (*wheels, *sdists):
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")
    if subprocess.run(["twine", "check", "--strict", *wheels, *sdists]).returncode:
        wrong.append("twine is not content with the metadata")
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    return 1 if wrong else 0


def problems_of_wheel(wheel: Path) -> list[str]:
    """Return the problems of a wheel, one per line."""
    wrong = []
    named = WHEEL.fullmatch(wheel.name)
    if named is None:
        wrong.append(f"{wheel.name}: not named as an abi3 wheel for manylinux_2_28")
    if wheel.stat().st_size > LARGEST_WHEEL:
        wrong.append(f"{wheel.name}: {wheel.stat().st_size} bytes, more than {LARGEST_WHEEL}")
    with zipfile.ZipFile(wheel) as archive:
        names = [re.sub(r"^lasthop-[\d.]+\.data/", "lasthop.data/", n) for n in archive.namelist()]
        wrong += missing(wheel, IN_WHEEL, names)
        if f"{PAGE}index.html" in archive.namelist():
            wrong += missing(wheel, named_by_page(archive), archive.namelist())
        core = archive.read("lasthop/_core.abi3.so")
        metadata = next(n for n in names if n.endswith(".dist-info/METADATA"))
        wrong += problems_of_metadata(wheel, archive.read(metadata))
    for path in (str(Path.cwd()), str(Path.home() / ".cargo")):
        if path.encode() in core:
            wrong.append(f"{wheel.name}: names {path}, a path of the machine that built it")
    shown = subprocess.run(["auditwheel", "show", wheel], capture_output=True, text=True)
    printed = " ".join(shown.stdout.split())
    print(f"{wheel.name}: {printed or shown.stderr}")
    tag = re.search(r'consistent with the following platform tag: "manylinux_2_(\d+)_', printed)
    if tag is None or int(tag[1]) > 28:
        wrong.append(f"{wheel.name}: auditwheel does not find it fit for manylinux_2_28")
    return wrong


def problems_of_metadata(package: Path, metadata: bytes) -> list[str]:
    """Return an error line if the long description of a package differs from the output of
    `packaging/project.py readme`, and no line otherwise.
    """
    _, _, description = metadata.decode().partition("\n\n")
    if description.strip() == project.readme(project.load()).strip():
        return []
    return [f"{package.name}: its description is not that of `packaging/project.py readme`"]


def named_by_page(archive: zipfile.ZipFile) -> tuple[str, ...]:
    """Return the scripts and style sheets to which the workbench's page refers."""
    page = archive.read(f"{PAGE}index.html").decode()
    return tuple(PAGE + name for name in re.findall(r'(?:src|href)="\./([^"]+)"', page))


def missing(package: Path, needed: tuple[str, ...], names: list[str]) -> list[str]:
    """Return a line for each required file that a package lacks."""
    return [f"{package.name}: has no {name}" for name in needed if name not in names]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
