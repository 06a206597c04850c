"""Folder of the kernels that `lasthop kernel build` has built."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INFORMATION = "kernel.json"
LATEST_S = 4e9
"""Largest time in `kernel.json`, since 1970. [s]"""


@dataclass(frozen=True)
class BuiltKernel:
    """Kernel that `lasthop kernel build` has built."""

    name: str
    """Name of the kernel's folder: the version, and a hash of source and configuration."""
    program: Path
    version: str
    source: str
    """Name of the source: a package with its version, or a file."""
    built_at_s: float
    """Time of the build, since 1970. [s]"""
    processor_s: float
    """CPU time of the build. [s]"""

    @property
    def size_bytes(self) -> int:
        """Size of the kernel's program file. [bytes]"""
        return self.program.stat().st_size

    def remove(self) -> None:
        """Remove the kernel's folder. Running emulations with this kernel continue. Raise `OSError`
        on failure."""
        (self.program.parent / INFORMATION).unlink()
        shutil.rmtree(self.program.parent)


@dataclass(frozen=True)
class DamagedKernel:
    """Folder of a built kernel that cannot be used."""

    name: str
    folder: Path
    problem: str
    """Message that names the file, the field and its value."""

    def remove(self) -> None:
        """Remove the folder. Raise `OSError` on failure."""
        shutil.rmtree(self.folder)


def cache_folder() -> Path:
    """Return the folder of lasthop's cached files for this user.

    The folder is in `XDG_CACHE_HOME` if this variable is an absolute path; the XDG Base Directory
    Specification demands that relative paths are ignored. For a user without a home folder, the
    returned folder does not exist.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if named.is_absolute():
        return named / "lasthop"
    try:
        home = Path.home()
    except RuntimeError:
        home = Path("/nonexistent")
    return home / ".cache" / "lasthop"


def kernel_folder() -> Path:
    """Return the folder that contains one folder per built kernel."""
    return cache_folder() / "kernels"


def built_kernels() -> list[BuiltKernel]:
    """Return the completely built kernels, the newest first."""
    results = [kernel for kernel in read_folders() if isinstance(kernel, BuiltKernel)]
    return sorted(results, key=lambda kernel: (-kernel.built_at_s, kernel.name))


def damaged_kernels() -> list[DamagedKernel]:
    """Return the folders of built kernels that cannot be used, ordered by name."""
    return [kernel for kernel in read_folders() if isinstance(kernel, DamagedKernel)]


def read_folders() -> list[BuiltKernel | DamagedKernel]:
    """Return the kernel in each folder of built kernels, ordered by name. Folders of running builds
    are skipped, because their names begin with a dot.
    """
    folder = kernel_folder()
    folders = sorted(folder.glob("[!.]*/")) if folder.is_dir() else []
    return [read_folder(each) for each in folders]


def read_folder(folder: Path) -> BuiltKernel | DamagedKernel:
    """Return the kernel in a folder."""
    file, program = folder / INFORMATION, folder / "linux"
    try:
        known = fields(json.loads(file.read_text()))
        program.stat()
    except OSError as error:
        return DamagedKernel(folder.name, folder, f"{error.filename}: {error.strerror}")
    except ValueError as error:
        return DamagedKernel(folder.name, folder, f"{file}: {error}")
    return BuiltKernel(folder.name, program, **known)


def fields(known: Any) -> dict[str, Any]:
    """Return the fields of `kernel.json`. Raise `ValueError` with the first field that has a value
    of another kind.
    """
    if not isinstance(known, dict):
        raise ValueError("expected an object")
    for name, kind in (("version", "a text"), ("source", "a text")):
        if not isinstance(known.get(name), str):
            raise ValueError(f"{name}: {json.dumps(known.get(name))}: expected {kind}")
    for name in ("built_at_s", "processor_s"):
        value = known.get(name)
        if not isinstance(value, int | float) or not 0 <= value <= LATEST_S:
            shown = json.dumps(value)
            raise ValueError(f"{name}: {shown}: expected a number from 0 to {LATEST_S:g}")
    names = ("version", "source", "built_at_s", "processor_s")
    return {name: known[name] for name in names}
