"""Check the packages in a folder: names, sizes, contents, metadata, and system requirements."""

import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import consistency
import links
import project

MAX_WHEEL_BYTES = 5_500_000
"""Largest size of a wheel. [bytes]

The wheel for Linux has 5.4 MB: the extension 2.6 MB, Python's modules 1.8 MB, and the workbench's
page 1.0 MB. `tests/workbench/test_engine.py` limits the parts of the page.
"""

PLATFORM = re.compile(
    r"lasthop-[\d.]+-cp311-abi3-"
    r"(?P<platform>manylinux_2_28_(x86_64|aarch64)|macosx_10_12_x86_64|macosx_11_0_arm64|win_amd64)"
    r"\.whl"
)

IN_WHEEL = (
    "lasthop/__init__.py",
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
    problems: list[str] = []
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if not wheels or len(sdists) != 1:
        problems.append(f"{folder}: {len(wheels)} wheels and {len(sdists)} sdists")
    for wheel in wheels:
        problems += problems_of_wheel(wheel)
        for sdist in sdists[:1]:
            problems += consistency.problems_of_wheel(wheel, sdist)
    for sdist in sdists:
        with tarfile.open(sdist) as archive:
            top = sdist.name.removesuffix(".tar.gz")
            names = [name.removeprefix(f"{top}/") for name in archive.getnames()]
            problems += missing(sdist, IN_SDIST, names)
            metadata = archive.extractfile(f"{top}/PKG-INFO")
            problems += problems_of_metadata(sdist, metadata.read() if metadata else b"")
    for path in (*wheels, *sdists):
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")
    if subprocess.run(["twine", "check", "--strict", *wheels, *sdists]).returncode:
        problems.append("twine check: invalid metadata (see above)")
    for line in problems:
        print(f"error: {line}", file=sys.stderr)
    return 1 if problems else 0


def problems_of_wheel(wheel: Path) -> list[str]:
    """Return the problems of a wheel, one per line."""
    problems = []
    named = PLATFORM.fullmatch(wheel.name)
    platform = named["platform"] if named else ""
    if named is None:
        problems.append(f"{wheel.name}: not named as an abi3 wheel for a supported platform")
    extension = "lasthop/_core.pyd" if platform.startswith("win") else "lasthop/_core.abi3.so"
    if wheel.stat().st_size > MAX_WHEEL_BYTES:
        problems.append(f"{wheel.name}: {wheel.stat().st_size} bytes, at most {MAX_WHEEL_BYTES}")
    with zipfile.ZipFile(wheel) as archive:
        names = [re.sub(r"^lasthop-[\d.]+\.data/", "lasthop.data/", n) for n in archive.namelist()]
        problems += missing(wheel, (*IN_WHEEL, extension), names)
        if f"{PAGE}index.html" in archive.namelist():
            problems += missing(wheel, named_by_page(archive), archive.namelist())
        core = archive.read(extension)
        metadata = next(n for n in names if n.endswith(".dist-info/METADATA"))
        problems += problems_of_metadata(wheel, archive.read(metadata))
    for path in (str(Path.cwd()), str(Path.home() / ".cargo")):
        if path.encode() in core:
            problems.append(f"{wheel.name}: names {path}, a path of the machine that built it")
    return problems + [
        f"{wheel.name}: {problem}" for problem in system_problems(wheel, platform, core)
    ]


def system_problems(wheel: Path, platform: str, core: bytes) -> list[str]:
    """Return the reasons why a system of the wheel's platform would not load its extension."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "core"
        library.write_bytes(core)
        if problems := links.problems_of_module(library, platform):
            return problems
        if version := re.match(r"macosx_(\d+)_(\d+)_", platform):
            return links.problems_for_macos(library, (int(version[1]), int(version[2])))
        if platform.startswith("win"):
            return links.problems_for_windows(library)
    if platform.startswith("manylinux"):
        shown = subprocess.run(["auditwheel", "show", wheel], capture_output=True, text=True)
        printed = " ".join(shown.stdout.split())
        print(f"{wheel.name}: {printed or shown.stderr}")
        tag = re.search(r'consistent with the following platform tag: "manylinux_2_(\d+)_', printed)
        is_compatible = tag is not None and int(tag[1]) <= 28
        return [] if is_compatible else ["not compatible with manylinux_2_28 (auditwheel)"]
    return ["is not for a supported platform"]


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
