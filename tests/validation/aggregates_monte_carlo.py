"""Monte Carlo of saturated cells with aggregation. It was written from the rules of 802.11 only,
independently of lasthop.

Contenders with equal AIFSN always have packets. Each sender has a BlockAck window of MPDUs to one
receiver. The sender whose backoff ends first sends all MPDUs of its window that are neither
received nor given up. The medium is simulated slot by slot, and each sender's frames MPDU by MPDU.
Many replicas of a cell run in parallel.

The backoff is uniform on [0, CW]. CW + 1 doubles after each failure. It returns to CWmin + 1 after
a success, and after `attempts_short` successive failures, which drop no MPDU. A PPDU that collides,
or of which nothing is received, is a failure. Each PPDU is one attempt of all its MPDUs, also if
only the RTS was sent and failed. An MPDU is given up after `attempts` attempts. A BlockAckReq then
precedes the next PPDU. The BlockAckReq contends like a PPDU, and is given up after `attempts`
failures. The receiver delivers MPDUs in order. MPDUs that follow an MPDU that was given up wait for
the BlockAckReq.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[Any]

UNSETTLED, RECEIVED, GIVEN_UP = 0, 1, 2


@dataclass(frozen=True)
class Sender:
    """A contender. Durations are indexed by the number of MPDUs in the PPDU. Index 0 is for a
    BlockAckReq.
    """

    window: int
    first_s: Floats
    """Duration of the first frame of an exchange, which a collision destroys. The first frame is an
    RTS, a PPDU or a BlockAckReq.
    """
    exchange_s: Floats
    """Time from the start of the first frame to the end of the response."""
    ended_s: Floats
    """Time from the start of the first frame to the end of the PPDU."""
    wait_s: Floats
    """Additional waiting time after a first frame that was destroyed: EIFS minus AIFS."""
    loss: float = 0.0
    attempts: int | None = None
    cwmin: int = 15
    cwmax: int = 1023
    attempts_short: int = 7


@dataclass
class Counts:
    """Numbers of events as arrays of [replica, sender]; `time_s` is an array of replicas."""

    time_s: Array
    received: Array
    given_up: Array
    attempts: Array
    failures: Array
    collisions: Array
    requests: Array
    rounds: Array
    """Number of PPDUs that did not collide."""
    empty: Array
    """Number of PPDUs that did not collide and of which no MPDU was received."""
    handed_up: Array
    waited_s: Array
    """Total time between reception and delivery, over all delivered MPDUs."""
    sizes: Array
    """Number of PPDUs that did not collide, by number of MPDUs and sender, for all replicas
    together.
    """
    waits: Array = field(default_factory=lambda: np.zeros(64))
    """Histogram of the delivery delay of MPDUs. The index is the number of PPDUs from the reception
    of an MPDU to its delivery in order. All senders are counted together.
    """


class Cell:
    """Replicas of a cell that are simulated in parallel."""

    def __init__(
        self,
        senders: list[Sender],
        slot_s: float,
        aifs_s: float,
        countdown: Literal["edca", "dcf"] = "edca",
        replicas: int = 200,
        seed: int = 1,
    ) -> None:
        self.slot_s, self.aifs_s = slot_s, aifs_s
        # number of slots by which a transmission decreases the counters of other nodes
        self.seen = 1 if countdown == "edca" else 0
        self.random = np.random.default_rng(seed)
        shape = (replicas, len(senders))
        self.widest = max(sender.window for sender in senders)
        self.window = np.array([sender.window for sender in senders])
        self.loss = np.array([sender.loss for sender in senders])
        never = np.iinfo(np.int64).max
        self.limit = np.array([sender.attempts or never for sender in senders])
        self.short = np.array([sender.attempts_short for sender in senders])
        self.cwmin = np.array([sender.cwmin for sender in senders])
        self.cwmax = np.array([sender.cwmax for sender in senders])

        def table(name: str) -> Floats:
            rows = [np.asarray(getattr(sender, name), dtype=float) for sender in senders]
            filled = np.zeros((len(senders), self.widest + 1))
            for row, values in zip(filled, rows, strict=True):
                row[: len(values)] = values
            return filled

        self.first_s, self.exchange_s = table("first_s"), table("exchange_s")
        self.ended_s, self.wait_s = table("ended_s"), table("wait_s")
        self.now_s = np.zeros(replicas)
        self.failed_in_row = np.zeros(shape, dtype=np.int64)
        self.counter = np.zeros(shape, dtype=np.int64)
        every = np.nonzero(np.ones(shape))
        self._draw(*every)
        self.state = np.zeros((*shape, self.widest), dtype=np.int8)
        outside = np.arange(self.widest) >= self.window[:, None]
        self.state[:, outside] = GIVEN_UP
        self.outside = outside
        self.tried = np.zeros((*shape, self.widest), dtype=np.int64)
        self.came_s = np.zeros((*shape, self.widest))
        self.came_in = np.zeros((*shape, self.widest), dtype=np.int64)
        self.round = np.zeros(shape, dtype=np.int64)
        self.due = np.zeros(shape, dtype=bool)
        self.due_tried = np.zeros(shape, dtype=np.int64)
        self.behind = np.zeros(shape, dtype=np.int64)
        """Number of received MPDUs that wait for an MPDU that was given up. `behind_s` is the sum
        of the arrival times of the waiting MPDUs.
        """
        self.behind_s = np.zeros(shape)
        self.counts = self._counts(shape)

    def _counts(self, shape: tuple[int, int]) -> Counts:
        some = {
            name: np.zeros(shape)
            for name in Counts.__dataclass_fields__
            if name not in ("time_s", "sizes", "waits")
        }
        return Counts(
            time_s=np.zeros(shape[0]), sizes=np.zeros((self.widest + 1, shape[1])), **some
        )

    def run(self, periods: int, warmup: int = 200) -> Counts:
        """Simulate this many busy periods in each replica. Count all busy periods except the first
        `warmup`.
        """
        for _ in range(warmup):
            self.step()
        self.counts = self._counts(self.due.shape)
        began_s = self.now_s.copy()
        for _ in range(periods):
            self.step()
        self.counts.time_s = self.now_s - began_s
        return self.counts

    def _draw(self, rows: Array, senders: Array) -> None:
        """Draw new backoffs for these senders."""
        doubled = (self.cwmin[senders] + 1) * 2 ** self.failed_in_row[rows, senders]
        window = np.minimum(doubled, self.cwmax[senders] + 1)
        self.counter[rows, senders] = (self.random.random(len(rows)) * window).astype(np.int64)

    def step(self) -> None:
        """Simulate one busy period: AIFS, idle slots, and an exchange or a collision."""
        idle = self.counter.min(axis=1)
        sending = self.counter == idle[:, None]
        self.counter -= np.where(sending, 0, idle[:, None] + self.seen)
        self.now_s += self.aifs_s + idle * self.slot_s
        rows, senders = np.nonzero(sending)
        request = self.due[rows, senders]
        open_ = self.state[rows, senders] == UNSETTLED
        size = np.where(request, 0, open_.sum(axis=1))
        alone = sending.sum(axis=1)[rows] == 1
        self.counts.attempts[rows, senders] += 1

        good = np.zeros(len(rows), dtype=bool)
        good[alone & request] = True
        self._requests(rows, senders, alone & request)
        ppdu = alone & ~request
        good[ppdu] = self._ppdus(rows[ppdu], senders[ppdu], size[ppdu], open_[ppdu])
        self._collide(rows, senders, ~alone, request, open_)

        exchange_s, ended_s = self.exchange_s[senders, size], self.ended_s[senders, size]
        lone_s = np.where(good, exchange_s, ended_s + self.wait_s[senders, size])
        self.now_s[rows[alone]] += lone_s[alone]
        # The longest frame of a collision ends last, and EIFS follows it.
        first_s = self.first_s[senders, size]
        longest_s = np.zeros(len(self.now_s))
        np.maximum.at(longest_s, rows[~alone], first_s[~alone])
        last = ~alone & (first_s == longest_s[rows])
        wait_s = np.zeros(len(self.now_s))
        np.maximum.at(wait_s, rows[last], self.wait_s[senders, size][last])
        self.now_s += longest_s + wait_s

        bad = ~good
        self.counts.failures[rows[bad], senders[bad]] += 1
        self.counts.collisions[rows[~alone], senders[~alone]] += 1
        row = (self.failed_in_row[rows, senders] + 1) % self.short[senders]
        self.failed_in_row[rows, senders] = np.where(good, 0, row)
        self._draw(rows, senders)

    def _requests(self, rows: Array, senders: Array, which: Array) -> None:
        """Process the BlockAckReqs that are received."""
        rows, senders = rows[which], senders[which]
        end_s = self.now_s[rows] + self.ended_s[senders, 0]
        self._release(rows, senders, end_s)
        self.due[rows, senders] = False
        self.counts.requests[rows, senders] += 1

    def _release(self, rows: Array, senders: Array, end_s: Array) -> None:
        """Deliver the MPDUs that wait for an earlier MPDU that was given up."""
        count = self.behind[rows, senders]
        self.counts.handed_up[rows, senders] += count
        self.counts.waited_s[rows, senders] += count * end_s - self.behind_s[rows, senders]
        self.behind[rows, senders] = 0
        self.behind_s[rows, senders] = 0.0

    def _ppdus(self, rows: Array, senders: Array, size: Array, open_: Array) -> Array:
        """Process the PPDUs that do not collide; return for each PPDU whether any MPDU was
        received.
        """
        lost = self.random.random(open_.shape) < self.loss[senders][:, None]
        got = open_ & ~lost
        any_: Array = np.any(got, axis=1)
        end_s = self.now_s[rows] + self.ended_s[senders, size]
        at = rows, senders
        state = self.state[at]
        state[got] = RECEIVED
        self.came_s[at] = np.where(got, end_s[:, None], self.came_s[at])
        self.round[at] += 1
        self.came_in[at] = np.where(got, self.round[at][:, None], self.came_in[at])
        self.counts.received[at] += got.sum(axis=1)
        self.counts.rounds[at] += 1
        self.counts.empty[at] += ~any_
        np.add.at(self.counts.sizes, (size, senders), 1)
        # An MPDU of a new window also makes the receiver deliver its waiting MPDUs.
        # This is necessary if the previous BlockAckReq was given up.
        self._release(rows[any_], senders[any_], end_s[any_])
        self._settle(rows, senders, state, open_ & lost, end_s)
        return any_

    def _collide(
        self, rows: Array, senders: Array, which: Array, request: Array, open_: Array
    ) -> None:
        """Process the frames that are lost in collisions."""
        asked = which & request
        at = rows[asked], senders[asked]
        self.due_tried[at] += 1
        done = self.due_tried[at] >= self.limit[at[1]]
        self.due[at] &= ~done
        sent = which & ~request
        at = rows[sent], senders[sent]
        self._settle(*at, self.state[at], open_[sent], np.zeros(len(at[0])))

    def _settle(self, rows: Array, senders: Array, state: Array, lost: Array, end_s: Array) -> None:
        """Count an attempt of each lost MPDU. Then advance the BlockAck windows, and add new MPDUs
        at the ends of the windows.
        """
        at = rows, senders
        tried = self.tried[at] + lost
        state[lost & (tried >= self.limit[senders][:, None])] = GIVEN_UP
        width = np.arange(self.widest)
        first = np.where(state == UNSETTLED, width, self.widest).min(axis=1)
        first = np.minimum(first, self.window[senders])
        passed = width < first[:, None]
        dropped = passed & (state == GIVEN_UP)
        self.counts.given_up[at] += dropped.sum(axis=1)
        hole = np.where(dropped, width, self.widest).min(axis=1)
        in_order = passed & (width < hole[:, None])
        behind = passed & ~in_order & (state == RECEIVED)
        came_s = self.came_s[at]
        self.counts.handed_up[at] += in_order.sum(axis=1)
        waited_s = np.where(in_order, end_s[:, None] - came_s, 0.0)
        self.counts.waited_s[at] += waited_s.sum(axis=1)
        later = self.round[at][:, None] - self.came_in[at]
        np.add.at(self.counts.waits, later[passed & (state == RECEIVED)], 1)
        self.behind[at] += behind.sum(axis=1)
        self.behind_s[at] += np.where(behind, came_s, 0.0).sum(axis=1)
        new = dropped.any(axis=1)
        self.due[at] |= new
        self.due_tried[at] = np.where(new, 0, self.due_tried[at])

        source = width + first[:, None]
        fresh = source >= self.window[senders][:, None]
        source = np.minimum(source, self.widest - 1)
        state = np.where(fresh, UNSETTLED, np.take_along_axis(state, source, axis=1))
        state[self.outside[senders]] = GIVEN_UP
        self.state[at] = state
        self.tried[at] = np.where(fresh, 0, np.take_along_axis(tried, source, axis=1))
        self.came_s[at] = np.take_along_axis(came_s, source, axis=1)
        self.came_in[at] = np.take_along_axis(self.came_in[at], source, axis=1)


def error(ratio: Array) -> float:
    """Return the standard error of a mean over replicas."""
    return float(ratio.std(ddof=1) / np.sqrt(len(ratio)))
