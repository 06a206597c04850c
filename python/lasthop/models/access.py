"""Access parameters of a node, which all models of contention use."""

from dataclasses import dataclass, field

from lasthop.scenario.typed import BEST_EFFORT, Node


@dataclass(frozen=True)
class Access:
    """Access parameters of a node.

    Attributes
    ----------
    cwmin, cwmax : int
        Smallest and largest contention window; backoff is uniform on [0, CW]. [slots]
    aifsn : int
        Number of idle slots after SIFS before the backoff counter counts down; with 2 slots, this
        idle time equals DIFS. [slots]
    attempts : int
        Largest number of attempts for a frame, including the first attempt. The frame is dropped if
        the last attempt fails.
    txop_packets : int
        TXOP limit: packets sent per access, 1 without TXOP. [packets]
    """

    cwmin: int = 31
    cwmax: int = 1023
    aifsn: int = 2
    attempts: int = 7
    txop_packets: int = field(default=1, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.cwmin <= self.cwmax:
            raise ValueError(f"{self!r}: needs 0 <= cwmin <= cwmax")
        if min(self.aifsn, self.attempts, self.txop_packets) < 1:
            raise ValueError(f"{self!r}: aifsn, attempts and txop_packets are at least 1")

    @classmethod
    def of(cls, node: Node, category: str = BEST_EFFORT, txop_packets: int = 1) -> "Access":
        """Return the access parameters of a node of a scenario, for frames of the access category
        `category`.
        """
        own = node.access(category)
        return cls(own.cwmin, own.cwmax, own.aifsn, node.attempts_short, txop_packets)

    def window(self, stage: int) -> int:
        """Return the contention window after `stage` failed attempts. [slots]"""
        return int(min((self.cwmin + 1) * 2**stage - 1, self.cwmax))

    def windows(self, *, limited: bool = True) -> list[int]:
        """Return the contention window of each attempt. Without `limited`, the list ends with the
        first window that equals CWmax. [slots]
        """
        if limited:
            return [self.window(stage) for stage in range(self.attempts)]
        windows = [self.cwmin]
        while windows[-1] < self.cwmax:
            windows.append(self.window(len(windows)))
        return windows
