"""Contenders: queues at the router that are compared. Each queue is set up as an expert would set
it up."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tc_network import ROUTER, ip, redirect, sh, tc

MARGIN, WIDE_MARGIN = 0.95, 0.85
"""Fractions of the measured rate that contenders with a fixed rate use, so that the queue is at the
router and not in the access point. The second fraction is for the contender with a wider margin.
The small packets of calls and ACKs use more air time per byte than large packets, so a user would
reduce the rate until the quality of calls is good."""
HEADROOM = 1.2
"""Ratio of the gateway's key `wce.max` to the goodput of a speed test. The gateway's guide
recommends this ratio."""

GATEWAY = Path("/tmp/gateway.toml")
LASTHOP = Path(sys.executable).with_name("lasthop")


@dataclass(frozen=True)
class Measured:
    """Rates that a speed test measures on this air, without a queue at the router."""

    goodput_bps: float
    """Goodput of the speed test's download. [bit/s]"""
    carried_bps: float
    """Rate of frames in both directions during the download, with ACKs. [bit/s]"""
    down_bps: float
    """Rate of downlink frames during the download. [bit/s]"""


def nothing(_: Measured) -> None:
    """Set up no queue at the router. The bottleneck is the FIFO of the access point."""


def gateway(air: Measured, more: str = "") -> None:
    """Run `lasthop gateway up` with the configuration file of its guide. With this file, the
    gateway finds the stations and estimates the rate."""
    gateway_with(f'wce.max = "{HEADROOM * air.goodput_bps / 1e6:.1f} Mbps"\n{more}')


def gateway_with(lines: str) -> None:
    """Run `lasthop gateway up` with these lines in its configuration file."""
    keys = ("neighbours = true", 'quarantine = "0 s"', "new_per_minute = 10_000")
    discovery = "".join(f"discover.{key}\n" for key in keys)
    GATEWAY.write_text(f'[gateway]\nwan = "wan"\nlan = "lan"\n{discovery}{lines}')
    sh(f"ip netns exec {ROUTER} {LASTHOP} gateway up {GATEWAY}")


def gateway_status() -> dict[str, Any]:
    """Return the status that the gateway reports."""
    status = f"ip netns exec {ROUTER} {LASTHOP} gateway status --json {GATEWAY}"
    return dict(json.loads(sh(status)))


def gateway_fifo(air: Measured) -> None:
    """Set up the gateway with FIFOs of 200 packets per station, as in the paper, in place of
    fq_codel."""
    gateway(air, 'discipline = "pfifo"\n')


def shared(queue: Callable[[int], list[str]], air: Measured, margin: float = MARGIN) -> None:
    """Redirect both directions through one queue at a fixed rate, since they share the air."""
    ip(ROUTER, ["link add shaper type ifb", "link set shaper up"])
    tc(ROUTER, queue(int(margin * air.carried_bps)))
    redirect(ROUTER, ("wan", "lan"), "shaper")


def htb_fq_codel(air: Measured) -> None:
    """Set up HTB with an fq_codel queue for both directions, as in simple.qos of sqm-scripts."""

    def queue(rate_bps: int) -> list[str]:
        return [
            "qdisc add dev shaper root handle 1: htb default 1",
            f"class add dev shaper parent 1: classid 1:1 htb rate {rate_bps} burst 15k cburst 15k",
            "qdisc add dev shaper parent 1:1 fq_codel",
        ]

    shared(queue, air)


def cake_shared(air: Measured, margin: float = MARGIN) -> None:
    """Set up one CAKE queue for both directions. Its option triple-isolate shares the rate fairly
    between hosts at either end."""

    def queue(rate_bps: int) -> list[str]:
        return [f"qdisc add dev shaper root cake bandwidth {rate_bps} triple-isolate"]

    shared(queue, air, margin)


def cake_wide(air: Measured) -> None:
    """Set up one CAKE queue for both directions, with the wider margin."""
    cake_shared(air, WIDE_MARGIN)


def cake_each_way(air: Measured) -> None:
    """Set up two CAKE queues, as home routers do: one per direction, each at the rate of the air in
    this direction."""
    rate_bps = int(MARGIN * air.down_bps)
    tc(
        ROUTER,
        [
            f"qdisc add dev lan root cake bandwidth {rate_bps} dual-dsthost",
            f"qdisc add dev wan root cake bandwidth {rate_bps} dual-srchost ingress",
        ],
    )


def cake_autorate(air: Measured) -> None:
    """Set up CAKE that estimates its rate from the arrivals of packets. This option is for a
    bottleneck upstream of the router."""

    def queue(rate_bps: int) -> list[str]:
        options = f"bandwidth {rate_bps} autorate-ingress triple-isolate"
        return [f"qdisc add dev shaper root cake {options}"]

    shared(queue, air)


CONTENDERS: Mapping[str, Callable[[Measured], None]] = {
    "nothing": nothing,
    "lasthop": gateway,
    "lasthop, FIFO": gateway_fifo,
    "HTB + fq_codel": htb_fq_codel,
    "CAKE": cake_shared,
    "CAKE, 85 %": cake_wide,
    "CAKE each way": cake_each_way,
    "CAKE autorate": cake_autorate,
}
