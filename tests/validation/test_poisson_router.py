"""Poisson datagrams through the bottleneck of a dumbbell. Datagrams of equal size are an M/D/1
queue. Datagrams whose sizes follow an exponential distribution are nearly an M/M/1 queue.

On the link, datagrams are 28 bytes longer than their payload. There are eight replications of 400
s. The tolerance is the half width of the simulated 95 % interval plus one per cent of the theory.
"""

import itertools
import math

import pytest

import lasthop as lh
from lasthop.models.dcf import drop_tail

RATE_BPS = 10e6
MEAN_BYTES = 400
CLASSES = 40
HEADER_BYTES = 28


def exponential_sizes():
    """Return forty sizes: the mean of each fortieth of an exponential distribution, as whole bytes.
    [bytes]
    """

    def below(part):
        # The result is the integral of the quantile function -ln(1 - u) from 0 to `part`.
        rest = 1 - part
        return part + (rest * math.log(rest) if rest > 0 else 0)

    edges = [k / CLASSES for k in range(CLASSES + 1)]
    means = [CLASSES * (below(b) - below(a)) for a, b in itertools.pairwise(edges)]
    return [round(MEAN_BYTES * mean) for mean in means]


def bottleneck(load, sizes):
    """Return the results of the queue, and the arrival rate [1/s]. All sizes are equally
    frequent.
    """
    arrival_rate = load * RATE_BPS / (8 * sum(sizes) / len(sizes))
    flows = {
        f"size-{k}": {
            "udp": {
                "rate": f"{arrival_rate / len(sizes) * payload * 8:.3f} bps",
                "packet": f"{payload} B",
                "header": f"{size - payload} B",
                "arrivals": "poisson",
            }
        }
        for k, size in enumerate(sizes)
        for payload in [max(1, size - HEADER_BYTES)]
    }
    result = lh.simulate(
        {
            "name": "Poisson datagrams through a router",
            "duration": "400 s",
            "warmup": "20 s",
            "replications": 8,
            "seed": 1,
            "queue": 100_000,
            "dumbbell": {"bottleneck": "10 Mbps", "rtt": "10 ms"},
            "flow": flows,
        }
    )
    return result.queues.loc["bottleneck"], arrival_rate


def close(queue, quantity, expected):
    half_width = queue[f"{quantity}_ci95"]
    assert half_width < 0.03 * expected, f"{quantity} known to {half_width} only"
    assert queue[quantity] == pytest.approx(expected, abs=half_width + 0.01 * expected)


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_equal_sizes_are_an_md1_queue(load):
    queue, arrival_rate = bottleneck(load, [1000])
    sojourn_s = drop_tail.md1_sojourn_s(arrival_rate, 8 * 1000 / RATE_BPS)
    close(queue, "sojourn_s", sojourn_s)
    close(queue, "occupancy_packets", arrival_rate * sojourn_s)


@pytest.mark.smoke(1)
@pytest.mark.parametrize("load", [0.5, 0.8])
def test_exponential_sizes_are_an_mm1_queue(load):
    sizes = exponential_sizes()
    mean_s = 8 * sum(sizes) / CLASSES / RATE_BPS
    square = sum((8 * size / RATE_BPS) ** 2 for size in sizes) / CLASSES
    queue, arrival_rate = bottleneck(load, sizes)
    # Sojourn time by Pollaczek-Khinchine for the forty sizes.
    sojourn_s = mean_s + arrival_rate * square / (2 * (1 - load))
    close(queue, "sojourn_s", sojourn_s)
    close(queue, "occupancy_packets", arrival_rate * sojourn_s)
    # Sojourn time by M/M/1.
    # The second moment of the sizes is 1.3 % below that of the exponential distribution.
    mm1_s = mean_s / (1 - load)
    assert queue["sojourn_s"] == pytest.approx(mm1_s, rel=0.03)
    assert queue["occupancy_packets"] == pytest.approx(load / (1 - load), rel=0.03)
