"""PI in front of a queue: the program, what it is told, and what it has counted.

The program is `crates/bpf/pi.bpf.c`; its law is the engine's, in whole numbers.
"""

import struct
from typing import NamedTuple

from lasthop.enforce.queue.config import LinkQueue
from lasthop.enforce.queue.program import Program

PART = 1 << 48
"""One, in weights and probabilities."""
SETTING = struct.Struct("=QQQIIII")
"""a, b, time between steps, target, limit, whether it marks."""
STATE = struct.Struct("=QQQQQQ")
"""Next step, probability, packets at the step before, offered, lost, marked."""


class PiState(NamedTuple):
    """What the program has (struct pi of pi.h)."""

    next_ns: int
    probability: int
    before_packets: int
    offered: int
    lost: int
    marked: int


class Pi(Program):
    """The program with its map, for one interface.

    Parameters
    ----------
    wanted : LinkQueue
        With `pi`.

    Raises
    ------
    UserError
        If the kernel refuses it.
    """

    def __init__(self, wanted: LinkQueue) -> None:
        super().__init__("pi", "pi", "PI")
        self.apply(wanted)

    def apply(self, wanted: LinkQueue) -> None:
        """Let settings be these from now on; counters and probability go on."""
        queue = wanted.queue
        weights = (round(queue[each] * PART) for each in ("a", "b"))
        update_ns, marks = round(queue["update_s"] * 1e9), int(queue["ecn"])
        packets = queue["target_packets"], wanted.queue_packets
        self.tell(0, SETTING.pack(*weights, update_ns, *packets, marks, 0))

    def state(self) -> PiState:
        """What the program has."""
        return PiState(*STATE.unpack_from(self.value, SETTING.size))
