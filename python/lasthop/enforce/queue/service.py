"""Service of a shaped queue. The service inspects the queue, reads its counters, applies a changed
configuration, and reports the status."""

import os
import time
from contextlib import ExitStack, suppress
from typing import Any, NamedTuple

from lasthop.daemon.healing import Healing
from lasthop.daemon.service import Service
from lasthop.daemon.service_kind import ServiceContext
from lasthop.enforce.queue import config, pi
from lasthop.enforce.queue.cake import rows, shaped_bps
from lasthop.enforce.queue.config import LinkQueue
from lasthop.enforce.queue.layout import FRAME_BYTES, warnings_for
from lasthop.enforce.queue.pi import Pi
from lasthop.enforce.queue.shaped import Shaped, same_kind
from lasthop.enforce.queue.sharing import PART, ClassState
from lasthop.enforce.queue.trial import try_out
from lasthop.errors import UserError
from lasthop.linux import links
from lasthop.linux.cake import Tin
from lasthop.linux.counters import Counters
from lasthop.scenario.queues import Cake

COUNTED_S = 1.0
"""Time between two readings of the counters. [s]"""
LOOKED_S = 30.0
"""Time between two inspections of the whole kernel state. Periodic inspections are necessary since
the kernel sends no event if `gso_max_segs` changes. [s]"""


class Reading(NamedTuple):
    """Counters, and the time at which they were read."""

    at_s: float
    """Time of the reading on the monotonic clock. [s]"""
    root: Counters
    queue: Counters
    classes: list[ClassState]
    tins: list[Tin]


class QueueService(Service[LinkQueue]):
    """Service that sets up a shaped queue, runs it, and reverts its changes.

    Parameters
    ----------
    context : ServiceContext
    """

    def __init__(self, context: ServiceContext[LinkQueue]) -> None:
        super().__init__(context)
        self.shaped = Shaped(context.wanted, context.state.log)
        self.healing = Healing(self.shaped, self.loop, context.say, self.set_up, lambda: None)
        self.readings: list[Reading] = []
        """Last two readings of the counters."""

    @property
    def kernel_state(self) -> Shaped:
        """Shaper and queue in the kernel."""
        return self.shaped

    def set_up(self) -> None:
        """Create the objects in the kernel, and receive events of changes by other programs."""
        self.healing.attend_to_all()
        self.shaped.up()
        self.healing.attend()
        self.readings = []

    def close(self) -> None:
        """Close all sockets."""
        self.healing.close()
        self.shaped.close()

    def run(self) -> None:
        """Run until SIGTERM, SIGINT or a request to stop arrives."""
        with ExitStack() as stack:
            self.listen(stack, config.read)
            self.context.is_up()
            self.count()
            self.loop.every(lambda: COUNTED_S, self.count)
            self.loop.every(lambda: LOOKED_S, self.healing.doubt)
            self.loop.run()

    # Counters of the kernel.

    def count(self) -> None:
        """Read the counters of the queue."""
        if self.shaped.is_set_up:
            root, queue = self.shaped.counters()
            sharing, count = self.shaped.sharing, len(self.shaped.wanted.classes)
            classes = [] if sharing is None else sharing.states(count)
            reading = Reading(time.monotonic(), root, queue, classes, self.shaped.tins())
            self.readings = [*self.readings[-1:], reading]
        if self.context.show is not None:
            self.context.show(self.status())

    def status(self) -> dict[str, Any]:
        """Return the status of the queue, for people and programs."""
        wanted = self.shaped.wanted
        return {
            "name": wanted.name,
            "pid": os.getpid(),
            "started_s": self.started_s,
            "interface": wanted.interface,
            "rate_bps": shaped_bps(wanted),
            "limit_packets": wanted.queue_packets,
            "queue": wanted.discipline,
            "shaping": self.shaped.is_set_up and not self.shaped.faults,
            **self.counted(),
            "faults": [*self.shaped.faults, *self.loop.faults.values()],
            "warnings": [*warnings_for(wanted), *self.merged()],
        }

    def counted(self) -> dict[str, Any]:
        """Return the counters of the last reading, and the rates between the last two readings."""
        if not self.readings:
            return {"classes": []}
        first, last = self.readings[0], self.readings[-1]
        over_s = last.at_s - first.at_s
        wanted = self.shaped.wanted
        queue = last.queue
        return {
            "backlog_packets": (queue.backlog_packets if last.tins else backlog_packets(queue)),
            "backlog_bytes": queue.backlog_bytes,
            "delay_s": 8 * queue.backlog_bytes / shaped_bps(wanted),
            "sent_packets": last.root.sent_packets,
            "sent_bytes": last.root.sent_bytes,
            "dropped_packets": last.root.dropped_packets,
            "sent_bps": per_s(8 * (last.root.sent_bytes - first.root.sent_bytes), over_s),
            **self.of_pi(),
            "classes": self.counted_of_classes(first, last, over_s),
            **self.of_cake(last),
        }

    def of_cake(self, last: Reading) -> dict[str, Any]:
        """Return the state of each tin, if the queue is CAKE."""
        queue = self.shaped.wanted.queue
        return {"tins": rows(last.tins, queue.diffserv)} if isinstance(queue, Cake) else {}

    def merged(self) -> list[str]:
        """Return a warning if packets in the queue are merged segments."""
        queue = self.readings[-1].queue if self.readings else None
        if queue is None or not queue.backlog_packets:
            return []
        mean_bytes = queue.backlog_bytes / queue.backlog_packets
        with suppress(OSError):
            if mean_bytes > links.longest_packet(self.shaped.wanted.interface) + FRAME_BYTES:
                return [
                    f"packets in the queue have {mean_bytes:.0f} bytes on average: segments are "
                    "merged before this queue (TSO, GRO), so that the limit holds more bytes"
                ]
        return []

    def of_pi(self) -> dict[str, Any]:
        """Return the state of the PI controller, if the queue has one."""
        if not isinstance(self.shaped.program, Pi):
            return {}
        state = self.shaped.program.state()
        return {
            "drop_probability": state.probability / pi.PART,
            "marked_packets": state.marked,
        }

    def counted_of_classes(
        self, first: Reading, last: Reading, over_s: float
    ) -> list[dict[str, Any]]:
        """Return the state of each class, and of the packets that belong to no class."""
        wanted = self.shaped.wanted
        if not wanted.classes:
            return []
        targets = [each.target for each in wanted.classes]
        names: list[str | None] = [each.name for each in wanted.classes]
        rows = zip([*names, None], [*targets, None], first.classes, last.classes, strict=True)
        return [
            {
                "name": name,
                "target_share": target,
                "packets": min(now.packets, backlog_packets(last.queue)),
                "blocking_probability": None if name is None else now.blocking / PART,
                "offered_packets": now.offered,
                "dropped_packets": now.lost,
                "entered_bytes": now.entered_bytes,
                "rate_bps": per_s(8 * (now.entered_bytes - before.entered_bytes), over_s),
            }
            for name, target, before, now in rows
        ]

    # A changed configuration.

    def refuse(self, new: LinkQueue) -> None:
        """Raise `UserError` for a configuration that cannot be applied, before anything is
        changed."""
        interface = self.shaped.wanted.interface
        if new.interface != interface:
            raise UserError(
                f'interface.name: "{new.interface}" differs from "{interface}" of the running '
                f"queue; first end the running queue with `down`"
            )
        with Shaped(new, self.context.state.log) as shaped:
            shaped.check(is_up=True)
        try_out(new)

    def take_over(self, new: LinkQueue) -> None:
        """Apply a changed configuration. If that fails, apply the old configuration again."""
        shaped = self.shaped
        old = shaped.wanted
        if old == new:
            return
        if shaped.is_set_up and same_kind(old, new):
            shaped.apply(new)
            return
        for line in shaped.down():
            raise UserError(line)
        try:
            shaped.wanted = new
            self.set_up()
        except Exception:
            shaped.wanted = old
            with suppress(UserError):
                self.set_up()
            # If the old configuration fails, too, the next inspection tries to repair the queue.
            self.healing.doubt()
            raise


def backlog_packets(queue: Counters) -> int:
    """Return the number of packets in a queue, including the packet in service."""
    return queue.backlog_packets + (queue.backlog_packets > 0)


def per_s(amount: float, over_s: float) -> float | None:
    """Return the rate at which a counter grew by `amount` during `over_s`. [1/s] Return None if the
    duration is 0, or if the counter was reset."""
    return amount / over_s if over_s > 0 and amount >= 0 else None
