"""Builds a user-mode Linux with a time of its own, from the distribution's sources of the kernel.

    .venv/bin/python bench/uml_kernel.py

Takes some five minutes, 140 MB of download and 1.7 GB of disk, of which 20 MB stay in
`.peers/uml/`, where `uml.py` looks first. Whoever has built another kernel names it by LASTHOP_UML.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import uml
from measure import BenchError
from peers import apt_install, must

CONFIG = Path(__file__).parent / "peers" / "uml.config"
SOURCE = "linux-source"
NEEDED = {"flex": "flex", "bison": "bison", "gcc": "gcc", "make": "make", "bc": "bc"}
"""Programs that a kernel is built with, and their packages."""


def install() -> None:
    """Have `uml.py` find a kernel with a time of its own, building it if there is none.

    Raises
    ------
    BenchError
        If it cannot be built here.
    """
    found = uml.kernel()
    if found is not None and found.own_time:
        return
    for program, package in NEEDED.items():
        if shutil.which(program) is None:
            apt_install(package)
    if shutil.which("apt-get") is None:
        raise BenchError(f"no sources of a kernel without apt-get; {uml.VARIABLE} may name one")
    print("building a user-mode Linux with a time of its own (some five minutes)", flush=True)
    uml.OWN.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=uml.OWN.parent) as directory:
        built = build(Path(directory))
        must(["strip", "--strip-debug", str(built)])
        built.rename(uml.OWN)
    uml.kernel.cache_clear()


def build(directory: Path) -> Path:
    """Fetch the sources and build in a directory; the kernel. Raises `BenchError`."""
    [package] = output(["apt-cache", "depends", "--important", SOURCE]).split("Depends: ")[1:]
    fetch = 'cd "$0"; apt-get -qq -o APT::Sandbox::User=root download "$1"'
    must(["sh", "-ec", fetch, str(directory), package.strip()])
    [archive] = directory.glob("*.deb")
    must(["dpkg-deb", "--extract", str(archive), str(directory)])
    [sources] = directory.glob("usr/src/*.tar.xz")
    must(["tar", "-xf", str(sources), "-C", str(directory)])
    [tree] = (path for path in directory.glob("linux-*") if path.is_dir())
    make = ["make", "-s", "-C", str(tree), "ARCH=um"]
    must([*make, f"KCONFIG_ALLCONFIG={CONFIG}", "allnoconfig"])
    settings = (tree / ".config").read_text().splitlines()
    wanted = (line for line in CONFIG.read_text().splitlines() if line.endswith("=y"))
    refused = [line for line in wanted if line not in settings]
    if refused:
        raise BenchError(f"{package.strip()} does not know {', '.join(refused)}")
    must([*make, f"-j{os.cpu_count()}", "linux"])
    return tree / "linux"


def output(argv: list[str]) -> str:
    """What a command prints. Raises `BenchError`."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"`{' '.join(argv)}` failed\n{done.stderr.strip()}")
    return done.stdout


if __name__ == "__main__":
    try:
        install()
    except BenchError as error:
        sys.exit(f"error: {error}")
    print(uml.kernel())
