"""User-mode Linux kernels of this machine, and the parts that each of them has."""

import os
import platform
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lasthop import _core
from lasthop.errors import UserError
from lasthop.uml.store import built_kernels

VARIABLE = "LASTHOP_UML"
"""Environment variable that names a kernel."""
PACKAGE, PROGRAM = "user-mode-linux", "linux.uml"
MODULES = Path("/usr/lib/uml/modules")
"""Directory in which Debian's package has the modules of its kernel."""

NEEDED = ("HOSTFS", "OVERLAY_FS", "TMPFS", "DEVTMPFS", "NET_NS", "PID_NS", "TUN", "INET")
"""Options without which no emulation runs."""
WANTED_MODULES = (
    *("overlay", "veth", "ifb", "tun", "dummy", "macvlan", "bridge", "ipv6", "af_packet"),
    *(f"sch_{name}" for name in ("htb", "tbf", "prio", "drr", "ingress", "netem")),
    *(f"sch_{name}" for name in ("cake", "fq_codel", "fq", "sfq", "codel", "pie", "red")),
    *(f"cls_{name}" for name in ("u32", "bpf", "flow", "matchall", "flower", "basic")),
    *(f"act_{name}" for name in ("mirred", "gact", "police", "skbedit")),
    *(f"tcp_{name}" for name in ("bbr", "dctcp", "illinois", "westwood", "vegas", "diag")),
    "inet_diag",
)
"""Modules that are loaded if they are not part of the kernel itself."""


@dataclass(frozen=True)
class Kernel:
    """A user-mode Linux kernel."""

    program: Path
    version: str
    options: Mapping[str, str]
    """Values of its configuration by name without ``CONFIG_``: ``y``, ``m``, or a text."""

    @property
    def has_simulated_clock(self) -> bool:
        """Whether the kernel has a simulated clock of its own."""
        return self.options.get("UML_TIME_TRAVEL_SUPPORT") == "y"

    def has(self, option: str) -> bool:
        """Return whether an option of the configuration is set."""
        return self.options.get(option) in ("y", "m")

    def module_files(self) -> list[str]:
        """Return the files of wanted modules and of those they depend on, in order of loading."""
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

    def check(self, options: Iterable[str]) -> None:
        """Refuse a kernel that lacks a part.

        Raises
        ------
        UserError
            With the missing option of the configuration.
        """
        for option in options:
            if not self.has(option):
                raise UserError(
                    f"{self.program}: Linux {self.version} lacks CONFIG_{option}",
                    "build a kernel that has it: lasthop kernel build",
                )


def find_kernel() -> Kernel:
    """Return the kernel that emulations in simulated time use.

    It is the kernel that `LASTHOP_UML` names, else the newest that `lasthop kernel build` has
    built, else the installed package's.

    Raises
    ------
    UserError
        If there is none, or it cannot be used.
    """
    if not _core.UML_PRELOAD:
        system = f"{platform.system()} on {platform.machine()}"
        raise UserError(
            f"simulated time needs Linux on x86_64; this is {system}", "run without --virtual"
        )
    named = os.environ.get(VARIABLE)
    if named:
        kernel = read_kernel(Path(named), f"{VARIABLE}={named}")
    elif built := built_kernels():
        kernel = read_kernel(built[0].program, "a built kernel")
    elif program := shutil.which(PROGRAM):
        kernel = read_kernel(Path(program), PROGRAM)
    else:
        raise UserError(
            "no user-mode Linux found: simulated time needs one",
            f"apt install {PACKAGE}, or lasthop kernel build, or {VARIABLE}=PROGRAM",
        )
    kernel.check(NEEDED)
    return kernel


def read_kernel(program: Path, named: str) -> Kernel:
    """Read the version and the configuration of a kernel.

    Raises
    ------
    UserError
        If the program is not a user-mode Linux; the message begins with `named`.
    """
    printed = []
    for option in ("--version", "--showconfig"):
        try:
            done = subprocess.run(
                [str(program), option],
                capture_output=True,
                text=True,
                check=True,
                timeout=60,
                stdin=subprocess.DEVNULL,
            )
        except OSError as error:
            raise UserError(f"{named}: {program}: {error.strerror}") from None
        except (subprocess.SubprocessError, ValueError):
            raise UserError(f"{named}: {program}: expected a user-mode Linux") from None
        printed.append(done.stdout)
    version, configuration = printed
    options = {}
    for line in configuration.splitlines():
        name, equals, value = line.partition("=")
        if equals and name.startswith("CONFIG_"):
            options[name.removeprefix("CONFIG_")] = value.strip('"')
    if "UML" not in options:
        raise UserError(f"{named}: {program}: expected a user-mode Linux")
    return Kernel(program.resolve(), version.strip(), options)
