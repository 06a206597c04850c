"""Result of an emulation."""

from collections.abc import Mapping
from types import MappingProxyType

from lasthop.answers.answer import Answer
from lasthop.emulated.captured import Captured
from lasthop.emulated.ignored import unfollowed
from lasthop.emulated.lateness import lateness, waiting
from lasthop.emulated.users import with_users
from lasthop.warnings.settings import warnings_for

__all__ = ["Emulation"]

REAL, SIMULATED = "real", "simulated"
"""Values of the field ``time`` in a result: real time, and simulated time."""

MAX_NAMED_FLOWS = 3
"""Largest number of flows whose names a warning lists."""

MAX_NAMED_FILES = 3
"""Largest number of files whose names a warning lists."""


class Emulation(Answer):
    """Result of an emulation: one run, without confidence intervals.

    Two results are equal if their JSON is equal. Exit codes of programs are not compared.
    """

    kind = "emulation"
    intervals = False
    exit_code: int | None = None
    """Exit code of the foreground program; None if no foreground program ran."""
    is_cut: bool = False
    """Whether the deadline ended the foreground program."""
    failed_programs: tuple[str, ...] = ()
    """Programs, except for the foreground program, that ended with an error during the run. A text
    contains the place, the exit code and the command."""
    left_out: int = 0
    """Number of items, such as connections of programs, that were left out because they are missing
    in at least one of several runs."""
    not_saved: tuple[str, ...] = ()
    """Messages about files that programs wrote in simulated time and that could not be saved. A
    message contains the reason."""
    refused_congestion: str | None = None
    """Congestion control that the kernel did not permit for programs; None if it was permitted."""
    short_window_packets: int | None = None
    """Largest receive window that the kernel permitted, if it is smaller than that of a flow.
    [packets]"""
    followed: tuple[str, ...] = ()
    """Settings of the scenario's table `tcp` that were applied to the kernel."""
    captured: Captured | None = None
    """Result of the capture of frames on the air, if a capture was requested."""
    with_excess: Mapping[str, None] = MappingProxyType({})
    """Names of the greedy flows whose loss includes drops of the queue that the flow keeps full.
    The keys are the names, in order; the values are None."""

    @property
    def warnings(self) -> list[str]:
        """Warnings about surprising settings, and about settings without effect."""
        known = with_users(self.scenario)
        results = [
            *warnings_for(self.scenario.typed, programs_run=True),
            *unfollowed(known, self.followed),
        ]
        if self.refused_congestion is not None:
            results.append(
                "programs use this machine's congestion control, not "
                f"{self.refused_congestion}, which users may not select: add it to "
                "net.ipv4.tcp_allowed_congestion_control"
            )
        if self.short_window_packets is not None:
            results.append(
                f"`tcp.window` is limited to {self.short_window_packets} packets by the kernel: "
                "increase net.core.rmem_max, or run as root outside of user namespaces"
            )
        if self.is_cut:
            results.append(
                f"the program was ended at the deadline, after {self.contents['duration_s']:g} s"
            )
        results += [f"a program has failed: {each}" for each in self.failed_programs]
        if self.not_saved:
            more = len(self.not_saved) - MAX_NAMED_FILES
            results.append(
                "files that a program wrote could not be saved: "
                + "; ".join(self.not_saved[:MAX_NAMED_FILES])
                + (f"; and {more} more" if more > 0 else "")
            )
        if self.left_out:
            results.append(
                f"{self.left_out} connections of programs are not in every run, and are left out"
            )
        if self.with_excess:
            results.append(excess_warning(self.with_excess))
        if self.is_simulated_time and not self.contents.get("repeatable"):
            results.append(
                "another run can give other numbers: on this machine, two tests of the kernel in "
                "simulated time differed"
            )
        return results

    @property
    def is_simulated_time(self) -> bool:
        """Whether the emulation ran in simulated time."""
        return bool(self.contents.get("time") == SIMULATED)

    @property
    def clock(self) -> str:
        """Description of the clock of the emulation, such as ``real time``."""
        if not self.is_simulated_time:
            return "real time"
        return f"simulated time, Linux {self.contents['kernel']}"

    @property
    def lateness_p99_s(self) -> float | None:
        """99th percentile of the lateness of packets; None if it is unknown. [s]"""
        return self.total("lateness_p99_s")

    @property
    def lateness(self) -> list[str]:
        """Lines about the lateness of packets, and about the socket thread's wait for a processor.

        If the lateness exceeds 2 ms, the lines also report the packet rate up to which this machine
        is not late.
        """
        late_s = self.lateness_p99_s
        if late_s is None or self.is_simulated_time:
            return []
        at_work, carried_pps = self.total("at_work_fraction"), self.total("carried_pps")
        text = lateness(late_s, at_work, carried_pps, self.total("packets_at_once") or 1.0)
        waited = waiting(self.total("processor_wait") or 0.0)
        return [text] if waited is None else [text, waited]

    def total(self, quantity: str) -> float | None:
        """Return a quantity of the whole run, or None if it is unknown."""
        run = self.contents["totals"][0].get(quantity)
        return None if run is None else float(run["mean"])


def excess_warning(flows: Mapping[str, None]) -> str:
    """Return the warning about flows whose loss includes drops of the queue that they keep full."""
    names = list(flows)
    more = len(names) - MAX_NAMED_FLOWS
    listed = ", ".join(names[:MAX_NAMED_FLOWS]) + (f" and {more} more" if more > 0 else "")
    return (
        f"loss of {listed}: it includes the datagrams that found the queue of their greedy source "
        "full, because other packets pass this queue too or its drops are not known; simulate does "
        "not offer such datagrams"
    )
