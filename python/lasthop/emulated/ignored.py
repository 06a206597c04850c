"""Settings of TCP in scenarios that the kernel ignores in an emulation."""

from collections.abc import Callable, Collection, Mapping

from lasthop.scenario.transports import Compound, Tcp
from lasthop.scenario.typed import Scenario as Typed

PUBLISHED = Compound(alpha=0.125, beta=0.5, k=0.75, gamma_packets=30.0, zeta=0.5)
"""Parameters of Compound TCP in lasthop's BPF program for the kernel. The engine has the same
values as defaults."""

OWN: Mapping[str, tuple[Callable[[Tcp], object], tuple[object, ...]]] = {
    "initial_window": (lambda tcp: tcp.initial_cwnd_packets, (2, 10)),
    "min_rto": (lambda tcp: tcp.min_rto_s, (0.2,)),
    "initial_rto": (lambda tcp: tcp.initial_rto_s, (1.0,)),
    "ack_delay": (lambda tcp: tcp.ack_delay_s, (0.1,)),
    "ack_processing": (lambda tcp: tcp.ack_processing_s, (0.0,)),
    "after_idle": (lambda tcp: tcp.after_idle, ("keep", "linux")),
    "ecn": (lambda tcp: tcp.ecn, (False,)),
    "compound": (lambda tcp: tcp.congestion != "compound" or tcp.compound, (True, PUBLISHED)),
}
"""Settings of scenarios that the kernel's TCP ignores. Each setting has a function that reads its
value in a scenario, and the values that cause no warning.

The values that cause no warning are the scenario's default and the value that the kernel uses.
"""

CAN_FOLLOW = ("initial_rto", "initial_window")
"""Settings of `OWN` that an emulation can apply to the kernel."""


def unfollowed(scenario: Typed, followed: Collection[str] = ()) -> list[str]:
    """Return warnings about settings of TCP that the kernel ignores, except settings in
    `followed`."""
    asked: dict[str, None] = {}
    for flow in scenario.tcp_flows:
        for setting, (value, fine) in OWN.items():
            if setting not in followed and value(flow.tcp) not in fine:
                asked[setting] = None
    return [
        f"`tcp.{setting}` has no effect in an emulation: the kernel's TCP uses its own setting"
        for setting in asked
    ]
