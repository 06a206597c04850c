"""PI controller in front of a queue: the BPF program, its settings and its counters.

The program is `crates/bpf/pi.bpf.c`. It runs the engine's algorithm in integer arithmetic.
"""

import struct
from typing import NamedTuple

from lasthop.enforce.queue.config import LinkQueue
from lasthop.enforce.queue.program import Program
from lasthop.scenario import queues

PART = 1 << 48
"""Integer by which the BPF program represents the value 1 of a weight or probability."""
SETTING = struct.Struct("=QQQIIII")
"""Layout of the settings: weights a and b of the controller, time between updates, target, limit,
whether packets are marked."""
STATE = struct.Struct("=QQQQQQ")
"""Layout of the state: time of the next update, probability, queue length at the last update, and
how many packets were offered, lost and marked."""


class PiState(NamedTuple):
    """State of the BPF program (struct pi of pi.h)."""

    next_ns: int
    probability: int
    before_packets: int
    offered: int
    lost: int
    marked: int


class Pi(Program):
    """The BPF program of the PI controller with its map, for one interface.

    Parameters
    ----------
    wanted : LinkQueue
        Settings of a queue with discipline `pi`.

    Raises
    ------
    UserError
        If the kernel refuses the program.
    """

    def __init__(self, wanted: LinkQueue) -> None:
        super().__init__("pi", "pi", "PI")
        self.apply(wanted)

    def apply(self, wanted: LinkQueue) -> None:
        """Apply settings to the running program. The counters and the probability are not
        changed."""
        pi = wanted.queue
        assert isinstance(pi, queues.Pi)
        times = round(pi.a * PART), round(pi.b * PART), round(pi.update_s * 1e9)
        packets = pi.target_packets, wanted.queue_packets
        self.tell(0, SETTING.pack(*times, *packets, pi.ecn, 0))

    def state(self) -> PiState:
        """Return the state of the running program."""
        return PiState(*STATE.unpack_from(self.value, SETTING.size))
