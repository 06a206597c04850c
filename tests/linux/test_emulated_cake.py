"""CAKE in emulations: the ACK filter with the kernel's TCP, in simulated time."""

from typing import Any

import pytest

from emulating import skip_without_rights
from lasthop.emulation import emulate

pytestmark = pytest.mark.simulated

SLOW_UPLINK = {
    "name": "ACKs of a fast download on a slow uplink",
    "duration": "7 s",
    "warmup": "2 s",
    "tcp": {"congestion": "cubic", "sack": True, "window": 1000},
    "link": {
        "line": {
            "from": "net",
            "to": "home",
            "rate": "20 Mbps",
            "back_rate": "150 kbps",
            "delay": "10 ms",
            "queue": 100,
        }
    },
    "flow": {"down": {"from": "net", "to": "home"}},
}


@pytest.fixture(autouse=True, scope="module")
def rights() -> None:
    skip_without_rights()


def download(ack_filter: str) -> tuple[float, float]:
    """Return the goodput of the download [bit/s], and the number of filtered ACKs."""
    queue: dict[str, Any] = {"cake": {"ack_filter": ack_filter, "isolation": "flows"}}
    answer = emulate(SLOW_UPLINK, settings={"link.line.back_queue": queue})
    tins = answer.table("tins").reset_index().set_index("name")
    filtered = tins.acks_filtered["line/back/best-effort"]
    return float(answer.flows.goodput_bps["down"]), float(filtered)


def test_the_filter_drops_superfluous_acks_of_the_kernel() -> None:
    """The uplink carries about 290 ACKs per second, and the downlink 1,650 segments per second.
    COBALT drops ACKs late. The filter drops them when the next ACK arrives.
    """
    off, conservative, aggressive = map(download, ("off", "conservative", "aggressive"))
    assert off[1] == 0
    assert 0 < conservative[1] <= aggressive[1] * 1.2
    assert aggressive[0] > 1.1 * off[0]
    assert aggressive[0] > 0.85 * 20e6
