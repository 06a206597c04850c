"""CAKE at the root of an interface.

CAKE contains its own shaper and splits merged segments itself, so that it needs neither the HTB
class nor the splitter of other queues.
"""

from collections.abc import Iterator
from typing import Any

from lasthop.enforce.queue.config import LinkQueue
from lasthop.errors import UserError
from lasthop.linux import cake, tc
from lasthop.linux.cake import Tin
from lasthop.linux.netlink import Request
from lasthop.scenario.queues import Cake

HANDLE = tc.classid(tc.OURS, 0)
DEFAULT_PACKETS = 10_240
"""Default limit of CAKE in a scenario. [packets]"""


def options_of(wanted: LinkQueue, queue: Cake) -> cake.Options:
    """Return the kernel's options for a scenario's queue. The rate of the shaper is the bandwidth
    of CAKE, or else the rate of the interface.

    Raises
    ------
    UserError
        If the bandwidth of CAKE exceeds the rate of the interface.
    """
    if queue.bandwidth_bps is not None and queue.bandwidth_bps > wanted.rate_bps:
        raise UserError(
            f"interface.queue: cake.bandwidth of {queue.bandwidth_bps / 1e6:g} Mbit/s exceeds the "
            f"rate of {wanted.rate_bps / 1e6:g} Mbit/s, so that packets would wait after CAKE; "
            "expected at most the rate",
            "set 85 to 95 % of the rate of the line, or leave out bandwidth",
        )
    return cake.Options(
        rate_bps=shaped_bps(wanted),
        rtt_s=queue.rtt_s,
        diffserv=queue.diffserv,
        isolation=queue.isolation,
        nat=queue.nat,
        ack_filter=queue.ack_filter,
        overhead_bytes=queue.overhead_bytes,
        mpu_bytes=queue.mpu_bytes,
        link_layer=queue.link_layer,
        memory_limit_bytes=queue.memory_limit_bytes,
        ingress=queue.ingress,
    )


def shaped_bps(wanted: LinkQueue) -> int:
    """Return the rate of an interface's shaper, which is that of CAKE if CAKE has a bandwidth.
    [bit/s]"""
    queue = wanted.queue
    if isinstance(queue, Cake) and queue.bandwidth_bps is not None:
        return int(queue.bandwidth_bps)
    return wanted.rate_bps


def root(wanted: LinkQueue, queue: Cake, device: tc.Device) -> Request:
    """Return the request that adds CAKE at the root of an interface."""
    kind, options, words = options_of(wanted, queue).discipline
    return tc.add_qdisc(device, tc.ROOT, kind, options, words, HANDLE)


def warnings_for(wanted: LinkQueue, queue: Cake) -> Iterator[str]:
    """Yield warnings about differences between the kernel's CAKE and the scenario's queue."""
    if wanted.queue_packets != DEFAULT_PACKETS:
        yield (
            f"the kernel's CAKE has no limit in packets: the limit of {wanted.queue_packets} has "
            "no effect; set cake.memory_limit"
        )


def rows(tins: list[Tin], diffserv: str) -> list[dict[str, Any]]:
    """Return the tins for the status, each with its name."""
    names = cake.TINS.get(diffserv) or [f"tin-{number}" for number in range(len(tins))]
    return [{"name": name, **tin._asdict()} for name, tin in zip(names, tins, strict=False)]
