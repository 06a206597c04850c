"""Figures 6.9 to 6.13, tables 6.3 and 6.4: topology a under other settings.

The scheme is n-ACK, unless the paper names another scheme.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.acsma import network
from lasthop.studies.acsma.network import LINKS, SCHEMES, USERS
from lasthop.studies.picture import Panel, Picture
from lasthop.studies.study import (
    Quantity,
    Run,
    Runs,
    Study,
    about,
    largest,
    listed,
    mean_of,
    smallest,
)
from lasthop.studies.sweep import Sweep, points_of


def by_user(labels: Mapping[str, str], what: str = "n-ACK") -> Picture:
    """Return a picture of every user's throughput, with one line for each point in `labels`."""
    lines = [network.each(label, point, network.rate) for point, label in labels.items()]
    return Picture(USERS, [Panel("throughput [packets/s]", lines, what)], panel_mm=70.0)


DUMMIES = {"plain": "without", "dummy": "with"}
"""Labels of the runs in which links do not send dummy packets, and of the runs in which they do."""

DUMMY = Sweep(
    "{scheme}-{name}",
    lambda scheme, name: network.scenario(
        f"{network.WORDS[scheme]}, {name}", **{**SCHEMES[scheme], "dummy": name == "dummy"}
    ),
    {"scheme": network.CURES, "name": tuple(DUMMIES)},
)

OF_DUMMIES = Sweep(
    "{variant}-{dummy}",
    lambda variant, dummy: network.variant("nack", variant, dummy=dummy),
    {"variant": ("theory", "slots", "silences", "delayed"), "dummy": (False, True)},
)


def _dummy_finding(runs: Runs) -> str:
    costs = []
    for name in OF_DUMMIES.settings["variant"]:
        without, others = OF_DUMMIES.at(variant=name).read(runs, network.total)
        cost = (network.known(1.0) - others / without) * 100.0
        costs.append(f"{network.VARIANTS[name].words}: {Quantity(cost.samples)} %")
    return (
        "links with dummy packets are hardly ever silent, so all links wait, and after frames that "
        "they cannot read they wait for EIFS. Their cost in the variants with n-ACK is as follows: "
        f"{'; '.join(costs)}"
    )


FIG6_9 = Study(
    key="acsma-fig6_9",
    title="Figure 6.9: dummy packets while a queue is empty",
    points=points_of(DUMMY, OF_DUMMIES),
    measure=lambda runs: DUMMY.values(runs, {"{scheme}_{name}": network.total}),
    findings=about("acsma-9", _dummy_finding),
    draw=by_user(
        {
            f"{scheme}-{name}": f"{network.WORDS[scheme]}, {word} dummy packets"
            for scheme in network.CURES
            for name, word in DUMMIES.items()
        },
        "",
    ).draw,
)

PRODUCT = 20_000.0
KS = {"44_7": 44.7, "28_3": 28.3, "20": 20.0, "14": 14.0, "10": 10.0, "5": 5.0}
"""Values of k, the factor for the number of connections. beta is chosen such that k^2 beta is
`PRODUCT`.
"""


LARGEST, REFERENCE = "44_7", "14"
"""Names of the largest k, and of the k with which the throughputs at other k are compared."""

ALIKE = ("28_3", "20", "14", "10")
"""Names of the k whose throughputs are equal according to the paper."""


def _widest(rates: Sequence[Sequence[Quantity]]) -> Quantity:
    """Return the range of a flow's rates over settings, for the flow with the widest range. [-]

    The range is divided by the mean rate. The largest rate, the smallest rate and the flow are
    chosen by their means over replications.
    """
    ranges = []
    for each in zip(*rates, strict=True):
        centre = float(np.mean([item.samples.mean() for item in each]))
        ranges.append((largest(each) - smallest(each)) / centre)
    return max(ranges, key=lambda each: float(each.samples.mean()))


def _losses(run: Run, user: int) -> Quantity:
    lost = run.quantity("flows", f"user-{user}", "loss_probability")
    delivered = network.rate(run, user)
    return delivered * lost / (network.known(1.0) - lost)


def _measure_product(runs: Runs) -> dict[str, Quantity]:
    values: dict[str, Quantity] = {}
    rates = {name: network.rates(runs[name]) for name in KS}
    for name in KS:
        if name != REFERENCE:
            pair = rates[name], rates[REFERENCE]
            values[f"distance_{name}"] = network.distance(*pair)
            values[f"largest_distance_{name}"] = network.largest_distance(*pair)
    values |= {"distance_all": _widest([rates[name] for name in ALIKE])}
    for user in LINKS:
        for name in (LARGEST, "20"):
            values[f"losses_{name}_{user}"] = _losses(runs[name], user)
        values[f"connections_5_{user}"] = network.connections(runs["5"], user)
    return values


def _product_findings(runs: Runs) -> dict[str, str]:
    windows = ", ".join(f"{network.window(runs[n], 2)} at k = {k:g}" for n, k in KS.items())
    run = runs[LARGEST]
    lost, r = run.quantity("flows", "user-2", "loss_probability"), network.aggressiveness(run, 2)
    room = run.scenario["csma"]["queue_packets"]
    text = (
        f"user 2's windows are {windows}. If fewer than three packets follow a lost packet, Reno "
        f"cannot use fast retransmit and waits for a timeout. At k = {KS[LARGEST]:g} user 2 loses "
        f"a fraction of {lost} of its packets, although r is {r}, since the queue of {room} "
        "packets is full"
    )
    return {"acsma-10": text, "acsma-21": text}


SAME_PRODUCT = Sweep(
    "{name}",
    lambda name: network.scenario(
        f"k = {KS[name]:g}", **{**SCHEMES["nack"], "k": KS[name], "beta": PRODUCT / KS[name] ** 2}
    ),
    {"name": tuple(KS)},
)

FIG6_10 = Study(
    key="acsma-fig6_10",
    title="Figure 6.10: settings with the same k^2 beta",
    points=SAME_PRODUCT.points(),
    measure=_measure_product,
    findings=_product_findings,
    draw=by_user({name: f"k = {k:g}" for name, k in KS.items()}, f"k^2 beta = {PRODUCT:g}").draw,
)

BETAS = (200, 1000, 1800)

PLAIN = ""
"""Name of the settings by which claims are judged. This name is empty, so that only variants have a
suffix.
"""

KINDS = (PLAIN, *(f"-{name}" for name in network.VARIANTS))
"""Suffixes of point names: empty for the judged settings, and one suffix per variant."""


def _under(kind: str, **csma: Any) -> dict[str, Any]:
    """Return the scenario of n-ACK in topology a with other settings of `csma`. `kind` is one of
    `KINDS`.
    """
    if kind != PLAIN:
        return network.variant("nack", kind.removeprefix("-"), **csma)
    text = ", ".join(f"{name} = {value}" for name, value in csma.items())
    return network.scenario(text, **{**SCHEMES["nack"], **csma})


def _by_variant(sweep: Sweep, runs: Runs, reading: Callable[[Run], Quantity]) -> str:
    """Return as text a quantity at all points of a sweep, under each variant."""
    return "; ".join(
        f"{item.words}: {listed(sweep.at(kind=f'-{name}').read(runs, reading))}"
        for name, item in network.VARIANTS.items()
    )


STEP_S = 0.5
"""Width of the bins in which intervals without throughput are measured. [s]"""

SEEDS = 10
"""Number of runs in which intervals without throughput are measured. Each run records the time
series of its first replication only.
"""


def silence(run: Run) -> float:
    """Return the mean length of the intervals without throughput of a user, weighted by length. [s]

    Such an interval consists of successive bins in which the user has no throughput.
    """
    lengths: list[float] = []
    for user in LINKS:
        times, values = run.track("flows", f"user-{user}", "goodput_bps")
        lengths += silent(np.asarray(values)[np.asarray(times) > network.WARMUP_S])
    return sum(s * s for s in lengths) / sum(lengths) if lengths else 0.0


def silent(values: NDArray[np.float64]) -> list[float]:
    """Return the lengths of the intervals of successive empty bins. [s]"""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], values == 0.0, [False]]).astype(int)))
    return [float(length) * STEP_S for length in np.diff(edges)[::2]]


def _recorded(seed: int) -> dict[str, Any]:
    """Return the scenario of a run that records the throughputs of users over time."""
    tree = network.scenario("beta = 1800", **{**SCHEMES["nack"], "beta": 1800})
    record = {"series_interval": f"{STEP_S} s"}
    return tree | {"seed": seed, "replications": 1, "record": record}


BY_BETA = Sweep(
    "{beta}{kind}", lambda beta, kind: _under(kind, beta=beta), {"beta": BETAS, "kind": KINDS}
)


def _measure_betas(runs: Runs) -> dict[str, Quantity]:
    values = BY_BETA.at(kind=PLAIN).values(
        runs, {"total_{beta}": network.total, "gap_{beta}": network.gap}
    )
    silences = [silence(runs[f"silence-{seed}"]) for seed in range(1, SEEDS + 1)]
    return values | {"starvation_1800": Quantity(np.asarray(silences))}


def _beta_finding(runs: Runs) -> str:
    totals, gaps = (_by_variant(BY_BETA, runs, read) for read in (network.total, network.gap))
    return (
        f"silences are read in bins of {STEP_S} s. The paper's ten seconds are read from its only "
        f"figure, which shows the first twenty. Variants for the totals: {totals}. Variants for "
        f"the gaps: {gaps}"
    )


FIG6_11 = Study(
    key="acsma-fig6_11",
    title="Figure 6.11, table 6.3: beta",
    points={
        **BY_BETA.points(),
        **{f"silence-{seed}": _recorded(seed) for seed in range(1, SEEDS + 1)},
    },
    measure=_measure_betas,
    findings=about("acsma-11", _beta_finding),
    draw=by_user({f"{beta}": f"beta = {beta}" for beta in BETAS}).draw,
)

FEW_KS = (10, 15, 20)

BY_K = Sweep("{k}{kind}", lambda k, kind: _under(kind, k=k), {"k": FEW_KS, "kind": KINDS})


def _mean_connections(run: Run) -> Quantity:
    return mean_of(network.of_all(network.connections, run))


def _measure_ks(runs: Runs) -> dict[str, Quantity]:
    return BY_K.at(kind=PLAIN).values(
        runs,
        {
            "total_{k}": network.total,
            "gap_{k}": network.gap,
            "connections_{k}": _mean_connections,
        },
    )


def _shown_ks(runs: Runs) -> dict[str, Quantity]:
    return {
        f"total_{k}_{name}": network.total(runs[f"{k}-{name}"])
        for k in FEW_KS
        for name in network.VARIANTS
    }


def _k_finding(runs: Runs) -> str:
    second = listed(BY_K.at(kind=PLAIN).read(runs, lambda run: network.rate(run, 2)))
    best = [network.best("a", network.BETA, k) for k in FEW_KS]
    model = ", ".join(f"{sum(rates):.0f}" for rates in best)
    model_second = ", ".join(f"{rates[1]:.0f}" for rates in best)
    totals, gaps = (_by_variant(BY_K, runs, read) for read in (network.total, network.gap))
    return (
        f"the totals rise with k, and so do those of the model, whose optimum has {model} "
        "packets/s, because the weight of the entropy falls as 1 / k^2. But in the model user 2 "
        f"gains ({model_second} packets/s), while here it has {second}. Variants for the totals: "
        f"{totals}. Variants for the gaps: {gaps}"
    )


FIG6_12 = Study(
    key="acsma-fig6_12",
    title="Figures 6.12 and 6.13, table 6.4: k",
    points=BY_K.points(),
    measure=_measure_ks,
    shown=_shown_ks,
    findings=about("acsma-12", _k_finding),
    draw=by_user({f"{k}": f"k = {k}" for k in FEW_KS}).draw,
)
