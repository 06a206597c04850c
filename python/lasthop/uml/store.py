"""Folder of the kernels that `lasthop kernel build` has built."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

INFORMATION = "kernel.json"


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
    """Processor time of the build. [s]"""

    @property
    def size_bytes(self) -> int:
        """Size of the kernel's program file. [bytes]"""
        return self.program.stat().st_size

    def remove(self) -> None:
        """Remove the kernel's folder. Running emulations with this kernel continue. Raise `OSError`
        on failure."""
        (self.program.parent / INFORMATION).unlink()
        shutil.rmtree(self.program.parent)


def cache_folder() -> Path:
    """Return the folder of lasthop's cached files for this user.

    For a user without a home folder, the returned folder does not exist.
    """
    try:
        home = Path.home()
    except RuntimeError:
        home = Path("/nonexistent")
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "lasthop"


def kernel_folder() -> Path:
    """Return the folder that contains one folder per built kernel."""
    return cache_folder() / "kernels"


def built_kernels() -> list[BuiltKernel]:
    """Return the completely built kernels, the newest first."""
    results = []
    folder = kernel_folder()
    for file in sorted(folder.glob(f"*/{INFORMATION}")) if folder.is_dir() else []:
        try:
            known = json.loads(file.read_text())
            kernel = BuiltKernel(file.parent.name, file.parent / "linux", **known)
        except (OSError, ValueError, TypeError):
            continue
        if kernel.program.exists():
            results.append(kernel)
    return sorted(results, key=lambda kernel: (-kernel.built_at_s, kernel.name))
