"""Checks of built packages: a wheel that differs from its sdist is refused."""

import base64
import hashlib
import io
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

PACKAGING = Path(__file__).parents[2] / "packaging"
sys.path.insert(0, str(PACKAGING))

import consistency  # noqa: E402

METADATA = "Metadata-Version: 2.4\nName: lasthop\nVersion: 1.0\nRequires-Dist: rich\n\nText.\n"
INFO = "lasthop-1.0.dist-info"
WHEEL = {
    "lasthop/__init__.py": "one",
    "lasthop/cli/main.py": "two",
    "lasthop/_core.abi3.so": "machine code",
    f"{INFO}/METADATA": METADATA,
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nTag: cp311-abi3-win_amd64\n",
}


def wheel_of(
    folder: Path, files: Mapping[str, str], name: str = "1.0-cp311-abi3-win_amd64"
) -> Path:
    """Write a wheel with a correct list of its files."""
    lines = [f"{INFO}/RECORD,,"]
    for file, text in files.items():
        digest = hashlib.sha256(text.encode()).digest()
        written = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        lines.append(f"{file},sha256={written},{len(text)}")
    path = folder / f"lasthop-{name}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in {**files, f"{INFO}/RECORD": "\n".join(lines)}.items():
            archive.writestr(file, text)
    return path


@pytest.fixture
def sdist(tmp_path: Path) -> Path:
    path = tmp_path / "lasthop-1.0.tar.gz"
    files = {"PKG-INFO": METADATA, "Cargo.toml": "x"}
    files |= {f"python/{name}": text for name, text in WHEEL.items() if name.endswith(".py")}
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"lasthop-1.0/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def test_a_wheel_of_the_sdist_has_no_problem(tmp_path: Path, sdist: Path) -> None:
    assert consistency.problems_of_wheel(wheel_of(tmp_path, WHEEL), sdist) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"lasthop/cli/main.py": None}, "lacks lasthop/cli/main.py"),
        ({"lasthop/secret.pem": "key"}, "has lasthop/secret.pem"),
        ({"lasthop/_core.pyd": "other"}, "has 2 extension modules"),
        ({"lasthop/_core.abi3.so": None}, "has 0 extension modules"),
        ({f"{INFO}/WHEEL": "Tag: cp312-cp312-win32\n"}, "its tag is cp312-cp312-win32"),
        (
            {f"{INFO}/METADATA": METADATA.replace("rich", "poor")},
            "metadata differ from the sdist: Requires-Dist: poor",
        ),
    ],
)
def test_a_changed_wheel_is_refused(
    tmp_path: Path, sdist: Path, change: Mapping[str, str | None], problem: str
) -> None:
    files = {name: text for name, text in {**WHEEL, **change}.items() if text is not None}
    wheel = wheel_of(tmp_path, files)
    assert f"{wheel.name}: {problem}" in consistency.problems_of_wheel(wheel, sdist)


def test_a_wheel_of_another_version_is_refused(tmp_path: Path, sdist: Path) -> None:
    wheel = wheel_of(tmp_path, WHEEL, "0.9-cp311-abi3-win_amd64")
    (problem,) = consistency.problems_of_wheel(wheel, sdist)
    assert problem == f"{wheel.name}: is of another version than lasthop-1.0.tar.gz"


def test_a_changed_file_differs_from_the_list_of_files(tmp_path: Path, sdist: Path) -> None:
    good = wheel_of(tmp_path, WHEEL)
    changed = tmp_path / "lasthop-1.0-cp311-abi3-win_amd64.whl.new"
    with zipfile.ZipFile(good) as before, zipfile.ZipFile(changed, "w") as after:
        for name in before.namelist():
            after.writestr(name, b"bad" if name.endswith("main.py") else before.read(name))
    changed.replace(good)
    (problem,) = consistency.problems_of_wheel(good, sdist)
    assert problem.endswith("lasthop/cli/main.py: RECORD has another content, or none")
