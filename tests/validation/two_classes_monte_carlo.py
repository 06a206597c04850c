"""Two classes at one access point: a Monte Carlo that was written from the standard and the RFCs.

Ten downloads share the drop-tail queue of an access point. For five of the downloads, a
transmission of a data frame fails with probability p_w. A frame is given up after the limit of
attempts. The program is independent of the engine. Medium access is IEEE 802.11-2016, 10.3.4 (DCF,
frozen counters, post-backoff, EIFS after a failure); TCP is in `two_classes_tcp.py`.

    python two_classes_monte_carlo.py [--rule NAME=VALUE ...] [--cell NAME=VALUE ...] [--runs N]
"""

import argparse
import dataclasses
import json
import math
import random
import sys
from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from pathlib import Path
from typing import Any, Literal

sys.path.append(str(Path(__file__).parent))

from two_classes_tcp import NEVER, Counts, Receiver, Rules, Segment, Sender

from lasthop.answers.estimates import Estimate

AP = 0
"""Index of the access point in the list of nodes. The stations follow."""


@dataclass(frozen=True)
class Cell:
    """Settings of the cell of paper 000, table II."""

    stations_per_class: int = 5
    error: float = 0.3
    """Probability that a transmission of a data frame of class 2 fails, p_w. [-]"""
    attempts: int = 4
    """Largest number of transmissions of a frame, including the first."""
    room: int = 100
    """Size of the access point's queue, including the frame in service. [packets]"""
    overflow: Literal["tail", "random"] = "tail"
    """Packet that a full queue drops: the arriving packet, or a random packet among the waiting
    packets and the arriving packet.
    """
    slot_s: float = 20e-6
    sifs_s: float = 10e-6
    preamble_s: float = 192e-6
    rate_bps: float = 36e6
    control_bps: float = 2e6
    cwmin: int = 31
    cwmax: int = 1023
    mac_bytes: int = 28
    header_bytes: int = 40
    mss_bytes: int = 1460

    @property
    def difs_s(self) -> float:
        """Idle time DIFS, after which backoff counters are decremented."""
        return self.sifs_s + 2 * self.slot_s

    @property
    def mac_ack_s(self) -> float:
        """Duration of a MAC ACK."""
        return self.preamble_s + 14 * 8 / self.control_bps

    @property
    def eifs_s(self) -> float:
        """Return EIFS, the idle time after a frame that was not decoded."""
        return self.sifs_s + self.mac_ack_s + self.difs_s

    def frame_s(self, payload_bytes: int) -> float:
        """Return the duration of a frame whose TCP segment has this payload."""
        length = self.mac_bytes + self.header_bytes + payload_bytes
        return self.preamble_s + 8 * length / self.rate_bps


@dataclass
class Node:
    """State of a node: the access point or a station."""

    queue: deque[Segment] = field(default_factory=deque)
    counter: int | None = None
    """Remaining backoff, or None if no backoff is running. [slots]

    A backoff also runs after the last frame of a queue.
    """
    cw: int = 0
    failed: int = 0
    """Number of failed attempts at the first frame of the queue."""


class Run:
    """State of one simulation of the cell."""

    def __init__(self, cell: Cell, rules: Rules, seed: int) -> None:
        self.cell = cell
        self.rules = rules
        self.random = random.Random(seed)
        count = 2 * cell.stations_per_class
        self.nodes = [Node(cw=cell.cwmin) for _ in range(count + 1)]
        self.counts = [Counts() for _ in range(count)]
        self.senders = [Sender(flow, rules, self.counts[flow]) for flow in range(count)]
        self.receivers = [Receiver(flow, rules) for flow in range(count)]
        self.timers: list[tuple[float, int]] = []
        """Times at which a retransmission timer may expire, each with the number of its flow."""
        self.armed = [NEVER] * count
        self.queue_time = 0.0
        self.collisions = 0
        self.exchanges = 0
        self.measured_s = 0.0

    def errors(self, flow: int) -> float:
        """Return the probability that a transmission of a flow's data frame fails."""
        return self.cell.error if flow >= self.cell.stations_per_class else 0.0

    # -- queues -------------------------------------------------------------------------------

    def enqueue(self, out: list[Segment]) -> None:
        """Enqueue segments at the access point."""
        ap = self.nodes[AP]
        for segment in out:
            counts = self.counts[segment.flow]
            counts.offered += 1
            if len(ap.queue) >= self.cell.room:
                other = 0
                if self.cell.overflow == "random":
                    other = self.random.randint(0, len(ap.queue) - 1)
                if other == 0:  # the arriving packet; the frame in service is not dropped
                    counts.overflowed += 1
                    continue
                self.counts[ap.queue[other].flow].overflowed += 1
                del ap.queue[other]
            ap.queue.append(segment)
        out.clear()

    def contend(self, node: Node) -> None:
        """Draw a backoff if the node has a frame and no running backoff."""
        if node.queue and node.counter is None:
            node.counter = self.random.randint(0, node.cw)

    def arm(self, flow: int) -> None:
        """Store the time at which the retransmission timer of a flow expires."""
        due_s = self.senders[flow].timer_s
        if due_s < self.armed[flow]:
            self.armed[flow] = due_s
            heappush(self.timers, (due_s, flow))

    def run_timers(self, until_s: float, out: list[Segment]) -> None:
        """Process the retransmission timers that have expired."""
        while self.timers and self.timers[0][0] <= until_s:
            now_s, flow = heappop(self.timers)
            self.armed[flow] = NEVER
            sender = self.senders[flow]
            if sender.timer_s <= now_s:
                if self.receivers[flow].next > sender.una or self.is_queued(flow, sender.una):
                    self.counts[flow].spurious += 1
                sender.expire(now_s, out)
                self.enqueue(out)
                self.contend(self.nodes[AP])
            self.arm(flow)

    def hand_over(self, ack: Segment, now_s: float, out: list[Segment]) -> None:
        """Deliver an ACK to the sender of its flow."""
        sender, counts = self.senders[ack.flow], self.counts[ack.flow]
        sender.take(ack, now_s, out)
        counts.windows += min(sender.window, self.rules.window)
        counts.samples += 1
        self.enqueue(out)
        self.contend(self.nodes[AP])
        self.arm(ack.flow)

    def is_queued(self, flow: int, number: int) -> bool:
        """Return whether this segment is in the access point's queue."""
        return any(
            packet.flow == flow and packet.number == number for packet in self.nodes[AP].queue
        )

    # -- medium -------------------------------------------------------------------------------

    def run(self, warmup_s: float, duration_s: float) -> None:
        """Simulate the cell for this time, and reset the counters after the warm-up."""
        cell = self.cell
        out: list[Segment] = []
        for sender in self.senders:
            sender.fill(0.0, out)
            self.enqueue(out)
            self.arm(sender.flow)
        ap = self.nodes[AP]
        data_s, ack_s = cell.frame_s(cell.mss_bytes), cell.frame_s(0)
        reply_s = cell.sifs_s + cell.mac_ack_s
        now_s = 0.0
        ready_s = cell.difs_s
        warm = False
        self.contend(ap)
        while now_s < duration_s:
            if not warm and now_s >= warmup_s:
                warm = True
                self.forget()
            # `least` is the smallest backoff counter of all nodes with a frame.
            # `begin_s` is the time at which a node with this counter sends.
            least = min(
                (node.counter for node in self.nodes if node.queue and node.counter is not None),
                default=None,
            )
            begin_s = NEVER if least is None else ready_s + least * cell.slot_s
            due_s = self.timers[0][0] if self.timers else NEVER
            if due_s <= begin_s:
                before = [node.counter for node in self.nodes]
                self.run_timers(due_s, out)
                for node, had in zip(self.nodes, before, strict=True):
                    if had is None and node.counter is not None and due_s > ready_s:
                        # The new frame found the medium idle and is sent at the next slot boundary.
                        node.counter = math.ceil((due_s - ready_s) / cell.slot_s)
                continue
            assert least is not None
            senders = []
            for number, node in enumerate(self.nodes):
                if node.counter is None:
                    continue
                node.counter -= least
                if node.queue and node.counter == 0:
                    senders.append(number)
                elif node.counter <= 0 and not node.queue:
                    node.counter = None
            self.exchanges += 1
            length_s = max(data_s if number == AP else ack_s for number in senders)
            end_s = begin_s + length_s
            succeeded = False
            if len(senders) == 1:
                [number] = senders
                succeeded = number != AP or not self.is_corrupted(ap.queue[0].flow)
                if succeeded:
                    self.deliver(number, end_s, out)
            else:
                self.collisions += 1
            for number in senders:
                self.finish_attempt(number, succeeded=succeeded)
            last_s = now_s
            now_s = end_s + (reply_s if succeeded else 0.0)
            ready_s = now_s + (cell.difs_s if succeeded else cell.eifs_s)
            if warm:
                self.queue_time += (now_s - last_s) * len(ap.queue)
        self.measured_s = now_s - warmup_s

    def is_corrupted(self, flow: int) -> bool:
        """Return whether a channel error destroys a transmission."""
        error = self.errors(flow)
        return error > 0.0 and self.random.random() < error

    def deliver(self, number: int, now_s: float, out: list[Segment]) -> None:
        """Deliver a frame: a segment to a station, or an ACK to its sender."""
        segment = self.nodes[number].queue[0]
        flow = segment.flow
        if number == AP:
            receiver, station = self.receivers[flow], self.nodes[flow + 1]
            before = receiver.next
            station.queue.append(receiver.take(segment))
            self.counts[flow].delivered += receiver.next - before
            self.contend(station)
        else:
            self.hand_over(segment, now_s, out)

    def finish_attempt(self, number: int, *, succeeded: bool) -> None:
        """Finish an attempt: remove the frame, retry it, or give it up."""
        node, cell = self.nodes[number], self.cell
        if not succeeded:
            node.failed += 1
            node.cw = min(2 * node.cw + 1, cell.cwmax)
        if succeeded or node.failed >= cell.attempts:
            gone = node.queue.popleft()
            if not succeeded and number == AP:
                self.counts[gone.flow].given_up += 1
            node.failed = 0
            node.cw = cell.cwmin
        node.counter = self.random.randint(0, node.cw)

    def forget(self) -> None:
        """Reset all counters."""
        for flow, counts in enumerate(self.counts):
            fresh = Counts()
            for count in dataclasses.fields(Counts):
                setattr(counts, count.name, getattr(fresh, count.name))
            assert self.senders[flow].counts is counts
        self.queue_time = 0.0

    def values(self) -> dict[str, float]:
        """Return the measured values of the run."""
        half = self.cell.stations_per_class
        minutes = self.measured_s / 60.0
        result = {"queue": self.queue_time / self.measured_s}
        goodputs = []
        for word, some in (("1", self.counts[:half]), ("2", self.counts[half:])):
            total = {
                count.name: sum(getattr(counts, count.name) for counts in some)
                for count in dataclasses.fields(Counts)
            }
            goodput = total["delivered"] * 8 * self.cell.mss_bytes / self.measured_s / 1e6
            goodputs.append(goodput)
            result |= {
                f"goodput {word}": goodput,
                f"buffer % {word}": 100.0 * total["overflowed"] / total["offered"],
                f"given up % {word}": 100.0 * total["given_up"] / total["offered"],
                f"window {word}": total["windows"] / max(1.0, total["samples"]),
            }
            for name in ("recoveries", "timeouts", "timeouts_in_recovery", "spurious", "again"):
                result[f"{name} {word}"] = total[name] / minutes / half
        return {"ratio": goodputs[0] / goodputs[1], **result}


def simulate(
    cell: Cell, rules: Rules, seed: int, warmup_s: float = 20.0, duration_s: float = 200.0
) -> dict[str, float]:
    """Return the measured values of one run. Rates of events are per flow and minute."""
    run = Run(cell, rules, seed)
    run.run(warmup_s, duration_s)
    return run.values()


def parsed(text: str) -> tuple[str, Any]:
    """Return the name and the value of a rule, read from text."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rule", action="append", default=[], type=parsed)
    parser.add_argument("--cell", action="append", default=[], type=parsed)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=200.0)
    options = parser.parse_args()
    runs = [
        simulate(
            Cell(**dict(options.cell)), Rules(**dict(options.rule)), seed, 20.0, options.seconds
        )
        for seed in range(1, options.runs + 1)
    ]
    for name in runs[0]:
        estimate = Estimate.of([measured[name] for measured in runs])
        print(f"{name:24s} {estimate.mean:9.4f} ± {estimate.ci95 or 0.0:.4f}")
