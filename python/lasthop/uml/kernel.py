"""Find the user-mode Linux kernels of this machine, and read their configurations."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lasthop import _core
from lasthop.errors import UserError
from lasthop.uml.store import BuiltKernel, built_kernels

VARIABLE = "LASTHOP_UML"
"""Environment variable that contains the path of a kernel."""
PACKAGE, PROGRAM = "user-mode-linux", "linux.uml"
MODULES = Path("/usr/lib/uml/modules")
"""Directory of the kernel modules of Debian's package ``user-mode-linux``."""

OTHERS = "run `lasthop kernel list` to see other kernels"
NEEDED = ("HOSTFS", "OVERLAY_FS", "TMPFS", "DEVTMPFS", "NET_NS", "PID_NS", "TUN", "INET")
"""Kernel configuration options that every emulation needs."""
WANTED_MODULES = (
    *("overlay", "veth", "ifb", "tun", "dummy", "macvlan", "bridge", "ipv6", "af_packet"),
    *(f"sch_{name}" for name in ("htb", "tbf", "prio", "drr", "ingress", "netem")),
    *(f"sch_{name}" for name in ("cake", "fq_codel", "fq", "sfq", "codel", "pie", "red")),
    *(f"cls_{name}" for name in ("u32", "bpf", "flow", "matchall", "flower", "basic")),
    *(f"act_{name}" for name in ("mirred", "gact", "police", "skbedit")),
    *(f"tcp_{name}" for name in ("bbr", "dctcp", "illinois", "westwood", "vegas", "diag")),
    "inet_diag",
)
"""Kernel modules to load if they are not built into the kernel."""


@dataclass(frozen=True)
class Kernel:
    """User-mode Linux kernel with its configuration."""

    program: Path
    version: str
    options: Mapping[str, str]
    """Values of the options in the kernel configuration (``y``, ``m`` or a text), by the option's
    name without the prefix ``CONFIG_``."""

    @property
    def has_simulated_clock(self) -> bool:
        """Whether the kernel has its own simulated clock."""
        return self.options.get("UML_TIME_TRAVEL_SUPPORT") == "y"

    @property
    def needs_root_name(self) -> bool:
        """Whether the kernel needs the parameter `root=` to mount a root file system that is not on
        a block device.

        Without a block layer, Linux 6.1 needs this parameter, but Linux 6.12 does not.
        """
        numbers = tuple(int(number) for number in re.findall(r"\d+", self.version)[:2])
        return not self.has("BLOCK") and numbers < (6, 12)

    def has(self, option: str) -> bool:
        """Return whether an option of the kernel configuration is set."""
        return self.options.get(option) in ("y", "m")

    def module_files(self) -> list[str]:
        """Return the files of the modules in `WANTED_MODULES` and their dependencies, in the order
        in which they are loaded."""
        directory = MODULES / self.version
        dependencies = directory / "modules.dep"
        if not dependencies.exists():
            return []
        lines = dependencies.read_text().splitlines()
        needs = {file: more.split() for file, _, more in (line.partition(":") for line in lines)}
        by_name = {Path(file).stem: file for file in needs}
        files = [by_name[name] for name in WANTED_MODULES if name in by_name]
        ordered = [each for file in files for each in (*reversed(needs[file]), file)]
        return [str(directory / file) for file in dict.fromkeys(ordered)]

    def check(self, options: Iterable[str], label: str | None = None) -> None:
        """Check that these options are set in the kernel configuration.

        Parameters
        ----------
        options : iterable of str
            Names of options without the prefix ``CONFIG_``.
        label : str, optional
            Beginning of the message; by default the path of the kernel.

        Raises
        ------
        UserError
            If an option is missing.
        """
        for option in options:
            if not self.has(option):
                raise UserError(
                    f"{label or self.program}: Linux {self.version} lacks CONFIG_{option}",
                    "build a kernel that has it: lasthop kernel build",
                )


@dataclass(frozen=True)
class Candidate:
    """Program that may be the kernel for emulations."""

    program: Path
    origin: str
    """Origin of the program: `VARIABLE`, `PROGRAM` or a built kernel."""
    named: str = ""
    """Path of the program, as the user wrote it; empty if the user did not name the program."""
    built: BuiltKernel | None = None
    """Entry in the folder of built kernels; None for a kernel that lasthop did not build."""

    def label(self, *, names_paths: bool = True) -> str:
        """Return the beginning of messages about the program."""
        if self.named:
            return f"{self.origin}={self.named if names_paths else '...'}"
        return f"{self.origin}: {self.program}" if names_paths else self.origin


def candidates() -> list[Candidate]:
    """Return the kernels of this machine in order of preference. Emulations use the first kernel.

    The first kernel is that in the environment variable `LASTHOP_UML`, if it is set. The kernels of
    `lasthop kernel build` follow, the newest first. The kernel of the installed Debian package is
    last.
    """
    named, installed = os.environ.get(VARIABLE), shutil.which(PROGRAM)
    return [
        *([Candidate(Path(named), VARIABLE, named)] if named else []),
        *(Candidate(each.program, "a built kernel", built=each) for each in built_kernels()),
        *([Candidate(Path(installed), PROGRAM)] if installed else []),
    ]


def check_machine() -> None:
    """Check that user-mode Linux can run on this machine. Raise `UserError` if it cannot."""
    if not _core.UML_PRELOAD:
        if (platform.system(), platform.machine()) == ("Linux", "x86_64"):
            raise UserError("emulation: not part of this build of lasthop")
        system = f"{platform.system()} on {platform.machine()}"
        raise UserError(
            f"{system}: simulated time is not supported: expected Linux on x86_64",
            "run without --virtual",
        )


def find_kernel(*, names_paths: bool = True) -> Kernel:
    """Return the kernel that emulations in simulated time use, the first of `candidates`.

    Parameters
    ----------
    names_paths : bool
        Whether messages contain the path of the kernel.

    Raises
    ------
    UserError
        If no kernel exists, or if the first kernel cannot be used.
    """
    check_machine()
    result = candidates()
    if not result:
        raise UserError(
            "no user-mode Linux found: simulated time needs one",
            f"run `apt install {PACKAGE}` as root or `lasthop kernel build`, "
            f"or set {VARIABLE}=PROGRAM",
        )
    label = result[0].label(names_paths=names_paths)
    kernel = read_kernel(result[0].program, label)
    kernel.check(NEEDED, label)
    return kernel


def read_kernel(program: Path, label: str) -> Kernel:
    """Read the version and the configuration of a kernel.

    Raises
    ------
    UserError
        If the program is not a user-mode Linux. The message begins with `label`.
    """
    printed = []
    for option in ("--version", "--showconfig"):
        try:
            done = subprocess.run(
                [str(program.absolute()), option],
                capture_output=True,
                text=True,
                check=True,
                timeout=60,
                stdin=subprocess.DEVNULL,
            )
        except OSError as error:
            raise UserError(
                f"{label}: {error.strerror}: expected a user-mode Linux", OTHERS
            ) from None
        except (subprocess.SubprocessError, ValueError):
            raise UserError(f"{label}: expected a user-mode Linux", OTHERS) from None
        printed.append(done.stdout)
    version, configuration = printed
    options = {}
    for line in configuration.splitlines():
        name, equals, value = line.partition("=")
        if equals and name.startswith("CONFIG_"):
            options[name.removeprefix("CONFIG_")] = value.strip('"')
    if "UML" not in options:
        raise UserError(f"{label}: expected a user-mode Linux", OTHERS)
    return Kernel(program.resolve(), version.strip(), options)
