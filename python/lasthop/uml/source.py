"""Find sources of the Linux kernel: packages of the distribution, and archives of the user."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lasthop.errors import UserError, listed
from lasthop.progress.steps import step

PACKAGE = re.compile(r"linux-source-(\d+(?:\.\d+)*)")
"""Pattern of the names of packages that contain a kernel source. Packages with patches have longer
names, which do not match.
"""
INSTALLED = Path("/usr/src")
"""Folder in which source packages install their archives."""
REMEDY = "run apt update, or name an archive of a kernel: --source FILE.tar.xz"


@dataclass(frozen=True)
class Source:
    """Source of a kernel that can be unpacked."""

    name: str
    """Name of the source in messages: the package with its version, or the name of the user's
    file."""
    identity: str
    """Text that identifies the source: the package with its version, or a hash of the file."""
    archive: Path | None = None
    """Archive file of the source; None for a package that must be downloaded."""
    package: str = ""
    """Argument of apt-get that names the package and its version; empty if no download is
    necessary."""
    download_bytes: int = 0
    """Size of the download. [bytes]"""

    def unpack(self, folder: Path) -> Path:
        """Download the source if necessary, unpack it into a folder, and return the folder of the
        source tree.

        Raises
        ------
        UserError
            If the source cannot be downloaded, or is not a kernel source.
        """
        archive = self.archive or download(self.package, folder)
        inside = folder / "source"
        inside.mkdir()
        with step(f"unpacking {self.name}"):
            try:
                output(["tar", "-xf", str(archive), "-C", str(inside)])
            except UserError as error:
                named = f"--source {archive}" if self.archive is not None else str(archive)
                raise UserError(
                    f"{named}: {error}: expected an archive of a kernel source"
                ) from None
        if self.archive is None:
            archive.unlink()
        for tree in inside.iterdir():
            if (tree / "arch/um/Makefile").exists() and (tree / "Kbuild").exists():
                return tree
        raise UserError(f"{archive}: not a kernel source: expected a folder with arch/um")


def find_source(asked: str | None = None) -> Source:
    """Return the source of a kernel. By default, return the newest source of the distribution.

    Parameters
    ----------
    asked : str, optional
        Name of a package, or path of an archive.

    Raises
    ------
    UserError
        If the source does not exist.
    """
    if asked is not None and ("/" in asked or ".tar" in asked):
        return from_file(Path(asked))
    installed = installed_archives()
    packages = newest_first({*installed, *packages_of_apt()})
    if asked is not None and asked not in packages:
        known = f"one of {listed(packages)}" if packages else "a package that apt lists"
        raise UserError(
            f'--source "{asked}": no such source: expected {known}, or a file .tar.xz', REMEDY
        )
    for package in packages if asked is None else [asked]:
        if package in installed:
            return from_installed(package, installed[package])
        if result := from_apt(package):
            return result
    raise no_source()


def no_source() -> UserError:
    """Return the error for a machine without a kernel source."""
    return UserError("no kernel source found: expected a package linux-source-X.Y", REMEDY)


def from_file(file: Path) -> Source:
    """Return the source in a user's file. Raise `UserError` if the file cannot be used."""
    try:
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"--source {file}: {error.strerror}: expected an archive .tar.xz") from None
    return Source(file.name, digest, file.resolve())


def from_installed(package: str, archive: Path) -> Source:
    """Return the source of an installed package."""
    try:
        version = output(["dpkg-query", "-W", "-f", "${Version}", package])
    except UserError:
        return from_file(archive)
    return Source(f"{package} {version}", f"{package}={version}", archive)


def from_apt(package: str) -> Source | None:
    """Return the source of a package that apt can download; None if apt cannot download the
    package."""
    try:
        shown = output(["apt-cache", "show", "--no-all-versions", package])
    except UserError:
        return None
    fields = dict(line.split(": ", 1) for line in shown.splitlines() if ": " in line)
    if "Version" not in fields:
        return None
    identity = f"{package}={fields['Version']}"
    name = f"{package} {fields['Version']}"
    return Source(name, identity, package=identity, download_bytes=int(fields.get("Size", "0")))


def installed_archives() -> dict[str, Path]:
    """Return the archive of each installed source package, by package name."""
    files = [
        *INSTALLED.glob("linux-source-*.tar.*"),
        *INSTALLED.glob("linux-source-*/linux-source-*.tar.*"),
    ]
    named = ((file.name.partition(".tar.")[0], file) for file in files)
    return {name: file for name, file in named if PACKAGE.fullmatch(name)}


def packages_of_apt() -> list[str]:
    """Return the names of the source packages that apt lists; an empty list without apt."""
    try:
        names = output(["apt-cache", "pkgnames", "linux-source-"]).split()
    except UserError:
        return []
    return [name for name in names if PACKAGE.fullmatch(name)]


def newest_first(packages: set[str]) -> list[str]:
    """Return packages sorted by the version in their names, the newest first."""

    def version(package: str) -> list[int]:
        return [int(number) for number in package.rpartition("-")[2].split(".")]

    return sorted(packages, key=version, reverse=True)


def download(package: str, folder: Path) -> Path:
    """Download a package without root rights, and return its archive. Raise `UserError` on
    failure."""
    with step(f"downloading {package}"):
        # The option keeps root's apt from downloading as the user _apt, which may not write to this
        # folder.
        argv = ["apt-get", "-qq", "-o", "APT::Sandbox::User=", "download", package]
        output(argv, folder)
    [deb] = folder.glob("*.deb")
    output(["dpkg-deb", "--extract", str(deb), str(folder / "package")])
    deb.unlink()
    sources = folder / "package/usr/src"
    files = (path for path in sources.rglob("linux-source-*.tar.*") if not path.is_symlink())
    archive = next(files, None)
    if archive is None:
        raise UserError(f"{package}: no archive found: expected an archive in /usr/src")
    return archive


def output(argv: Sequence[str], folder: Path | None = None) -> str:
    """Run a program and return its output.

    Raises
    ------
    UserError
        If the program fails. The message contains the first line of the program's standard error.
    """
    if shutil.which(argv[0]) is None:
        raise UserError(f"{argv[0]}: not found: expected an installed program")
    done = subprocess.run(
        argv,
        cwd=folder,
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        line = lines[0].removeprefix(f"{argv[0]}: ")
        raise UserError(f"{argv[0]}: {line}")
    return done.stdout.strip()
