"""A bandit that learns the CWmin of a saturated cell, compared with the prediction of the model.

Twelve stations of 802.11n always have a packet to send. The learner repeatedly sets the CWmin of
all stations for one second and observes the goodput. Its next choice is the CWmin with the largest
upper bound: the mean goodput so far, plus a bonus for values that were tried rarely. This algorithm
is UCB1 (Auer, Cesa-Bianchi and Fischer, Machine Learning 47, 2002). `learn.txt` contains the
output.

    pip install "lasthop[learn,science]"
"""

from math import log, sqrt

import numpy as np

import lasthop as lh
from lasthop.learning import WINDOWS, AccessEnv

CELL = {
    "name": "twelve saturated stations",
    "duration": "301 s",
    "warmup": "1 s",
    "cell": {"phy": "802.11n", "band": "5 GHz", "mcs": 7},
    "station": {"sta": {"count": 12, "udp_up": "greedy"}},
}
SPREAD = 2.0
"""Assumed deviation of the goodput in one second from its mean. [Mbit/s]"""


def learned(env: AccessEnv, seed: int) -> tuple[list[int], list[float]]:
    """Return, for each CWmin, the number of times it was chosen in an episode, and its mean
    reward.
    """
    counts, means = [0] * len(env.choices), [0.0] * len(env.choices)
    env.reset(seed=seed)
    truncated = False
    while not truncated:
        steps = sum(counts)
        hopes = [
            mean + SPREAD * sqrt(2 * log(steps) / count) if count else float("inf")
            for mean, count in zip(means, counts, strict=True)
        ]
        action = hopes.index(max(hopes))
        _, reward, _, truncated, _ = env.step(np.int64(action))
        counts[action] += 1
        means[action] += (reward - means[action]) / counts[action]
    env.close()
    return counts, means


def main() -> None:
    """Run one episode of five minutes, and print the model's goodput for each CWmin."""
    env = AccessEnv(CELL)
    counts, means = learned(env, seed=1)
    print("CWmin  chosen  goodput x Jain  model's goodput [Mb/s]")
    predicted = {}
    for cwmin, count, mean in zip(WINDOWS, counts, means, strict=True):
        if cwmin:  # with CWmin 0 all frames collide, so that there is no equilibrium
            cell = lh.predict(env.scenario.with_("cell.cwmin", cwmin)).summary["cells"][0]
            predicted[cwmin] = cell["goodput_bps"]["mean"] / 1e6
        model = f"{predicted[cwmin]:.1f}" if cwmin else "-"
        print(f"{cwmin:5}  {count:6}  {mean:14.1f}  {model:>22}")
    best = WINDOWS[counts.index(max(counts))]
    print(f"learned: {best}; the model's best: {max(predicted, key=predicted.__getitem__)}")


if __name__ == "__main__":
    main()
