r"""Compound flows with random losses, compared with the fluid model. There are five replications of
200 s.

The round-trip time is 100 ms and there is no queue. Therefore the window w depends only on
Compound's growth by alpha w^k per round trip, and on the reductions by the factor beta at losses of
probability p. At the equilibrium of the fluid model, growth equals reduction: alpha w^(k-1) (1 - p)
= beta w p. Independent losses make the window vary about this value. Its mean is lower by a factor
that is the same for all small p. The reason is scaling: if s is p times the number of segments and
w = x p^(-1/(2-k)), the equation for x(s) does not contain p.
"""

import numpy as np
import pytest

import lasthop as lh
from lasthop.stability import windows

ALPHA, BETA, K = 0.125, 0.5, 0.75


def mean_window(loss, flows):
    """Return the mean window over all flows and five replications, with the half width of its
    interval. [packets]
    """
    result = lh.simulate(
        {
            "name": "Compound under random loss",
            "duration": "240 s",
            "warmup": "40 s",
            "replications": 5,
            "seed": 1,
            "link": {"only": {"from": "a", "to": "b", "rate": "100 Gbps", "loss": loss}},
            "tcp": {
                "congestion": "compound",
                "sack": False,
                "initial_window": 2,
                "window": 30_000,
                "delayed_ack": False,
            },
            "flow": {
                "f": {
                    "count": flows,
                    "from": "a",
                    "to": "b",
                    "rtt": "100 ms",
                    "start_spread": "1 s",
                }
            },
        }
    )
    [window] = [row["cwnd_packets"] for row in result.summary["classes"]]
    return window["mean"], window["ci95"]


@pytest.fixture(scope="module")
def factor():
    """Return the time average of the varying window divided by the window at equilibrium.

    The scaled process is sampled directly.
    """
    # The docstring of this file defines the scaled window x and the scaled number of segments s.
    # Compound's window grows by dx = alpha x^(k-1) ds. The variable y = x^(2-k) therefore grows
    # linearly: dy = (2-k) alpha ds.
    # The distance in s between two losses is exponential with mean 1, and a loss halves x.
    # The duration of a cycle from x0 to x1 is the integral of ds / x.
    # This integral is (x1^(1-k) - x0^(1-k)) / ((1-k) alpha).
    rng = np.random.default_rng(1)
    y, time = 1.0, 0.0
    gaps = rng.exponential(size=400_000)
    for gap in gaps:
        before = y
        y += (2 - K) * ALPHA * gap
        time += (y ** ((1 - K) / (2 - K)) - before ** ((1 - K) / (2 - K))) / ((1 - K) * ALPHA)
        y *= (1 - BETA) ** (2 - K)
    at_rest = (ALPHA / BETA) ** (1 / (2 - K))
    return gaps.sum() / time / at_rest


@pytest.mark.parametrize(
    ("loss", "flows"),
    [
        (1e-3, 12),  # With fewer flows the interval would be wider than the asserted width.
        pytest.param(1e-3, 16, marks=pytest.mark.slow),
        pytest.param(2e-4, 8, marks=pytest.mark.slow),
    ],
)
def test_mean_window_at_small_loss_is_that_of_the_fluid_law(loss, flows, factor):
    rule = windows.RULES["compound"]
    parameters = {"alpha": ALPHA, "k": K, "beta": BETA}
    at_rest = (ALPHA * (1 - loss) / (BETA * loss)) ** (1 / (2 - K))
    gain, drain = rule.increase(at_rest, parameters), rule.decrease(at_rest, parameters)
    assert gain * (1 - loss) == pytest.approx(drain * loss)
    mean, half_width = mean_window(loss, flows)
    # A recovery takes one round trip, and in the next round trip Compound keeps the window.
    # Therefore the window does not grow in two round trips of each cycle.
    # At a loss of 1e-3 a cycle has about fifty round trips, so that this is 4 % of the cycle.
    # The mean window changes by less than 4 %.
    assert half_width < 0.05 * mean
    assert mean == pytest.approx(factor * at_rest, rel=0.05)
