"""Limits of commands: reasons why a command, or a part of it, does not run on a machine."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from lasthop.doctor.machine import MISSING, Linux, Machine, Refusal
from lasthop.errors import AS_ROOT
from lasthop.extras import error_for_action, missing
from lasthop.linux_only import linux_error

__all__ = ["KINDS", "Check", "Limit", "Need"]

KINDS = ("system", "build", "package", "program", "kernel", "rights")
"""Kinds of limits: another operating system, a part that was left out of the build, missing Python
packages, missing programs or files, features of the kernel, and rights of this process."""


class Limit(NamedTuple):
    """Reason why a command, or a part of it, does not run."""

    kind: str
    """Kind of the reason, one of `KINDS`."""
    part: str | None
    """Part of the command that does not run; None if the reason concerns the whole command."""
    reason: str
    remedy: str | None


Check = Callable[[Machine], Refusal | None]


class Need(NamedTuple):
    """Need of a command, or of a part of it."""

    kind: str
    check: Check
    """Function that returns the refusal of a machine that does not meet the need."""
    part: str | None = None
    within: str | None = None
    """Larger part of the command to which `part` belongs. If the larger part does not run, `part`
    is not reported."""

    def limits(self, machine: Machine) -> Iterator[Limit]:
        """Yield the limit of this need, if the machine does not meet it."""
        refusal = self.check(machine)
        if refusal is not None:
            yield Limit(self.kind, self.part, refusal.reason, refusal.remedy)


def needs_linux(name: str, part: str | None = None) -> Need:
    """Return the need of a command for Linux."""
    return Need("system", lambda machine: Refusal.of(linux_error(name, machine.platform)), part)


def needs_feature(name: str, part: str | None = None) -> Need:
    """Return the need for a feature of the build."""
    return Need("build", lambda machine: machine.left_out.get(name), part)


def needs_packages(action: str, part: str | None = None) -> Need:
    """Return the need for the packages of an action in `lasthop.extras.PACKAGES_OF_ACTION`."""

    def check(machine: Machine) -> Refusal | None:
        absent = machine.missing_packages
        return Refusal.of(error_for_action(action, lambda name: name not in absent))

    return Need("package", check, part)


def needs_package(name: str, part: str) -> Need:
    """Return the need of a part of a command for a single package."""

    def check(machine: Machine) -> Refusal | None:
        return Refusal.of(missing(name)) if name in machine.missing_packages else None

    return Need("package", check, part)


def on_linux(check: Callable[[Linux], Refusal | None]) -> Check:
    """Return a check that accepts every machine without Linux."""
    return lambda machine: None if machine.linux is None else check(machine.linux)


def needs_root(reason: str, part: str | None = None) -> Need:
    """Return the need for root rights."""
    refusal = Refusal(reason, AS_ROOT)
    return Need("rights", on_linux(lambda linux: None if linux.is_root else refusal), part)


def absent_disciplines(linux: Linux) -> Refusal | None:
    """Return the refusal of a kernel without a queueing discipline of `lasthop queue`."""
    from lasthop.linux import disciplines

    kinds = [
        kind
        for kind in sorted(disciplines.OPTION)
        if linux.modules.get(f"sch_{kind}") == MISSING and kind != "tbf"
    ]
    if not kinds:
        return None
    return Refusal(
        disciplines.absent(*kinds), disciplines.install_kernel(*(f"sch_{kind}" for kind in kinds))
    )
