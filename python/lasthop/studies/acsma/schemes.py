"""Figures 6.2 to 6.4, tables 6.1 and 6.2: adaptive access compared with L-CSMA and the optimum."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lasthop.studies.acsma import network
from lasthop.studies.acsma.network import (
    CURES,
    LINKS,
    SCHEMES,
    TOPOLOGIES,
    USERS,
    VARIANTS,
    WORDS,
)
from lasthop.studies.picture import Abscissa, Panel, Picture
from lasthop.studies.study import Quantity, Read, Run, Runs, Study, about, listed, mean_of
from lasthop.studies.sweep import Point, Sweep, points_of

PAPER_GAPS = {"a": -268.5, "b": -541.4, "c": -190.8}
"""Utility gaps between L-CSMA and the optimum in table 6.1, by topology. [-]"""

STARVING = {"a": 1, "b": 1, "c": 2}
"""Number of starving users under L-CSMA, by topology. The utilities of the starving users cause the
utility gap.
"""

RANDOM_LOSS = 1.31
"""Product of Reno's mean window and sqrt(p), under random losses and with an ACK for every packet.
[packets]

The loss probability is p. Source: Mathis, Semke, Mahdavi and Ott, The macroscopic behavior of the
TCP congestion avoidance algorithm, 1997, after Ott, Kemperman and Mathis, The stationary behavior
of ideal TCP congestion avoidance, 1996.

The window W grows by 1/W per ACK and is halved at each loss. Therefore X = p W^2 / 2 rises by 1 in
1/p packets and falls to X/4. The distribution of X is that of the sum over k of E_k / 4^k, where
E_k is exponential with mean one. The mean of W sqrt(p) over time is sqrt(2) / E[X^(-1/2)] = 1.3098.
With periodic losses, the mean of W sqrt(p) is sqrt(3/2)."""

WINDOW_FACTOR = RANDOM_LOSS / 2**0.5
"""Ratio of `RANDOM_LOSS` to sqrt(2), the value in equation (3.6). A user's effective k is k times
this ratio. [-]
"""

ROOM = 1000
"""Limit of a queue that never overflows. [packets]"""


def _other(kind: str, topology: str) -> dict[str, Any]:
    """Return the scenario of a run that isolates one cause of the utility gap."""
    words, csma = {
        "plain": ("L-CSMA without EIFS", network.PLAIN),
        "room": (
            "L-CSMA, queues that never overflow",
            {**SCHEMES["lcsma"], "queue": ROOM},
        ),
        "light": ("n-ACK, short ACKs", network.LIGHT_ACKS),
        "larger": (
            "k as much larger as Reno's windows are smaller",
            {**SCHEMES["hack"], "k": network.K / WINDOW_FACTOR},
        ),
    }[kind]
    return network.scenario(f"topology {topology}, {words}", topology, **csma)


BY_SCHEME = Sweep(
    "{scheme}-{topology}",
    lambda scheme, topology: network.scenario(
        f"topology {topology}, {WORDS[scheme]}", topology, **SCHEMES[scheme]
    ),
    {"scheme": tuple(SCHEMES), "topology": TOPOLOGIES},
)
ISOLATING = Sweep(
    "{kind}-{topology}",
    _other,
    {"kind": ("plain", "room", "light", "larger"), "topology": TOPOLOGIES},
)

VARIED = Sweep(
    "{variant}-{scheme}-{topology}",
    lambda variant, scheme, topology: network.variant(scheme, variant, topology),
    {"variant": tuple(VARIANTS), "scheme": CURES, "topology": TOPOLOGIES},
)

ALONE = Point(
    "nack-smooth",
    network.scenario(
        "topology a, n-ACK, smoothed", **SCHEMES["nack"], smoothing=0.9, rounding="nearest"
    ),
)


def _off(run: Run, topology: str) -> list[Quantity]:
    """Return the relative distance of each user's rate from the optimum of MP. [-]"""
    optimal = network.best(topology, network.BETA)
    return [
        Quantity((rate / best - 1.0).samples)
        for rate, best in zip(network.rates(run), optimal, strict=True)
    ]


def _off_in_words(runs: Runs, scheme: str) -> str:
    """Return as text, for each topology, the relative distances of the users' rates from the
    optimum of MP. [%]
    """
    each = []
    for topology in TOPOLOGIES:
        off = _off(runs[f"{scheme}-{topology}"], topology)
        means = ", ".join(f"{100.0 * float(item.samples.mean()):+.0f}" for item in off)
        each.append(f"{means} % in {topology}")
    return "; ".join(each)


def _measure(runs: Runs) -> dict[str, Quantity]:
    values: dict[str, Quantity] = {}
    for topology in TOPOLOGIES:
        hack = network.rates(runs[f"hack-{topology}"])
        optimum = [network.known(each) for each in network.best(topology, network.BETA)]
        values[f"largest_distance_{topology}"] = network.largest_distance(hack, optimum)
        for scheme in SCHEMES:
            run = runs[f"{scheme}-{topology}"]
            values[f"gap_{scheme}_{topology}"] = network.gap(run, topology)
            values[f"total_{scheme}_{topology}"] = network.total(run)
        for scheme in CURES:
            off = _off(runs[f"{scheme}-{topology}"], topology)
            for user, item in zip(LINKS, off, strict=True):
                values[f"off_{scheme}_{topology}_{user}"] = item
        for user in LINKS:
            values[f"lcsma_{topology}_{user}"] = network.rate(runs[f"lcsma-{topology}"], user)
    return values


def _shown(runs: Runs) -> dict[str, Quantity]:
    values: dict[str, Quantity] = {}
    for topology in TOPOLOGIES:
        table: dict[str, Read] = {
            "gap_{variant}_{scheme}_{topology}": partial(network.gap, topology=topology),
            "total_{variant}_{scheme}_{topology}": network.total,
        }
        values |= VARIED.at(scheme="nack", topology=topology).values(runs, table)
        values[f"farthest_patient_nack_{topology}"] = _farthest(runs, topology)
    return values


def _farthest(runs: Runs, topology: str) -> Quantity:
    """Return the relative distance from the optimum of MP, for the user farthest from the optimum.
    [-]
    """
    optimum = [network.known(each) for each in network.best(topology, network.BETA)]
    return network.distance(network.rates(runs[f"patient-nack-{topology}"]), optimum)


def _starving(runs: Runs, kind: str) -> str:
    """Return as text the smallest rate of any user in each topology. [packets/s]"""
    every = [network.rates(runs[f"{kind}-{topology}"]) for topology in TOPOLOGIES]
    return listed(min(rates, key=lambda rate: float(rate.samples.mean())) for rates in every)


def _by_variant(runs: Runs, reading: Callable[[Run, str], Quantity]) -> str:
    """Return as text a quantity of a run in each topology, under each variant and both treatments
    of ACKs.
    """

    def of(scheme: str, name: str) -> str:
        each = VARIED.at(variant=name, scheme=scheme).runs(runs)
        return listed(
            reading(run, topology) for run, topology in zip(each, TOPOLOGIES, strict=True)
        )

    return "; ".join(
        f"{item.words}: {of('hack', name)} (h-ACK) and {of('nack', name)} (n-ACK)"
        for name, item in VARIANTS.items()
    )


def _on_air_back(run: Run, user: int) -> Quantity:
    """Return the fraction of time in which the TCP ACKs of a user are on the air. [%]"""
    return network.link(run, f"{user}/back", "airtime_fraction") * 100.0


def _window_over_loss(run: Run, user: int) -> Quantity:
    """Return a user's mean window multiplied by the square root of its loss probability.
    [packets]
    """
    lost = run.quantity("flows", f"user-{user}", "loss_probability")
    return Quantity((network.window(run, user).samples) * np.sqrt(lost.samples))


def _findings(runs: Runs) -> dict[str, str]:
    entropy = ", ".join(f"{network.entropy_gap(topology):.2f}" for topology in TOPOLOGIES)
    paper_rates = ", ".join(
        f"{-STARVING[topology] * network.C_PPS / gap:.2g}" for topology, gap in PAPER_GAPS.items()
    )
    hack, nack = BY_SCHEME.at(scheme=CURES, topology="a").runs(runs)
    back = listed(network.of_all(_on_air_back, nack))
    windows = listed(network.of_all(_window_over_loss, hack))
    smooth = _off(ALONE.run(runs), "a")[1] * 100.0
    offs = "; ".join(
        f"{VARIANTS[name].words}: {_off_in_words(runs, f'{name}-hack')} (h-ACK) and "
        f"{_off_in_words(runs, f'{name}-nack')} (n-ACK)"
        for name in VARIANTS
    )
    farthest = listed(_farthest(runs, topology) * 100.0 for topology in TOPOLOGIES)
    return {
        "acsma-4": (
            f"with {network.PATIENT.words} instead of 3 s, the user that is farthest from the "
            f"optimum under n-ACK is off by {farthest} % in a, b and c. With the judged settings, "
            f"users are off the optimum by {_off_in_words(runs, 'hack')} with h-ACK. With n-ACK "
            f"they are off by {_off_in_words(runs, 'nack')}. The exchange of an ACK then takes "
            f"{network.ACK_PART:.2g} of that of a data packet. So backward links use {back} % of "
            "the air time in a, which the optimum ignores. With ACKs as short as their bytes (C = "
            f"{network.LIGHT_PPS}), users are off by {_off_in_words(runs, 'light')}. With smoothed "
            f"numbers of connections, rounded to the nearest, user 2 of a is off by {smooth} % "
            "with n-ACK. Part of the rest is caused by Reno. Its mean window under random losses "
            f"is {RANDOM_LOSS} / sqrt(p) by Mathis et al., and sqrt(2 / p) by (3.6). With h-ACK in "
            f"a, windows times sqrt(p) are {windows}. With k = {network.K / WINDOW_FACTOR:.3g} "
            f"instead of {network.K:g}, users are off by {_off_in_words(runs, 'larger')} with "
            f"h-ACK. Variants: {offs}"
        ),
        "acsma-5": (
            f"the optimum of MP itself has gaps of {entropy} to the optimum without entropy, and "
            "Reno's smaller windows increase them. Under L-CSMA a gap is C divided by the rate of "
            f"the starving user. This rate is {_starving(runs, 'lcsma')} packets/s here in a, b "
            f"and c. It is {_starving(runs, 'plain')} if links do not wait for EIFS after frames "
            f"that they sense beyond 250 m. It is {_starving(runs, 'room')} if queues have {ROOM} "
            f"packets and nobody loses any. At C = {network.C_PPS:g} the paper's gaps give "
            f"{paper_rates}, the last for two users. Variants: {_by_variant(runs, network.gap)}"
        ),
        "acsma-6": (
            "variants, in packets/s: " + _by_variant(runs, lambda run, _: network.total(run))
        ),
    }


PICTURE = Picture(
    USERS,
    [
        Panel(
            "throughput\n[packets/s]",
            [
                *(
                    network.each(word, f"{scheme}-{topology}", network.simulated_rate)
                    for scheme, word in WORDS.items()
                ),
                network.optimal(topology),
            ],
            f"topology {topology}",
        )
        for topology in TOPOLOGIES
    ],
)

FIG6_2 = Study(
    key="acsma-fig6_2",
    title="Figure 6.2, tables 6.1 and 6.2: throughputs in topologies a, b and c",
    points=points_of(BY_SCHEME, ISOLATING, VARIED, ALONE),
    measure=_measure,
    shown=_shown,
    findings=_findings,
    draw=PICTURE.draw,
)

WINDOWS_S = {
    "whole": (network.WARMUP_S, network.DURATION_S),
    "1": (250.0, 375.0),
    "2": (375.0, 500.0),
}
"""Time intervals of a run: the time after the warm-up, and two parts of its second half. [s]"""


SETTLING = Sweep(
    "{scheme}-{window}",
    lambda scheme, window: network.scenario(
        f"topology a, {WORDS[scheme]}", seconds=WINDOWS_S[window], **SCHEMES[scheme]
    ),
    {"scheme": CURES, "window": ("whole", "1", "2")},
)


def _settled(run: Run) -> Quantity:
    return mean_of(network.of_all(network.aggressiveness, run))


def _measure_settling(runs: Runs) -> dict[str, Quantity]:
    values: dict[str, Quantity] = {}
    for scheme in CURES:
        total, *parts = SETTLING.at(scheme=scheme).runs(runs)
        early, late = map(_settled, parts)
        values[f"drift_{scheme}"] = Quantity(np.abs((late / early - 1.0).samples))
        for user in LINKS:
            values[f"connections_{scheme}_{user}"] = network.connections(total, user)
    return values


IN_A = Sweep(
    "{variant}", lambda variant: network.variant("nack", variant), {"variant": tuple(VARIANTS)}
)


def _shown_connections(runs: Runs) -> dict[str, Quantity]:
    of_users: dict[str, Read] = {
        f"connections_{{variant}}_{user}": partial(network.connections, user=user) for user in LINKS
    }
    return IN_A.values(runs, of_users)


def _of_nack(runs: Runs, reading: Callable[[Run, int], Quantity]) -> str:
    """Return a text with the values of a quantity for all users, for each variant of n-ACK in
    topology a. `reading` returns the quantity of one user in a run.
    """
    each = zip(VARIANTS.values(), IN_A.runs(runs), strict=True)
    return "; ".join(f"{item.words}: {listed(network.of_all(reading, run))}" for item, run in each)


def _settling_finding(runs: Runs) -> str:
    heavy, light = (
        listed(network.of_all(network.connections, run))
        for run in (SETTLING.run(runs, scheme="nack", window="whole"), network.LIGHT.run(runs))
    )
    varied = _of_nack(runs, network.connections)
    return (
        f"with n-ACK users have {heavy} connections here, where the exchange of an ACK takes "
        f"{network.ACK_PART:.2g} of that of a data packet. With ACKs as short as their bytes (C = "
        f"{network.LIGHT_PPS}) they have {light}. So the count depends on the air time of ACKs, "
        f"which the paper does not give. Variants with n-ACK: {varied}"
    )


SETTLED = Picture(
    Abscissa("link, user", ticks=LINKS),
    [
        Panel(label, [network.each(WORDS[scheme], f"{scheme}-whole", read) for scheme in CURES])
        for label, read in {
            "r [-]": network.aggressiveness,
            "connections": network.connections,
        }.items()
    ],
)

FIG6_3 = Study(
    key="acsma-fig6_3",
    title="Figures 6.3 and 6.4: aggressiveness and connections, topology a",
    points=points_of(SETTLING, IN_A, network.LIGHT),
    measure=_measure_settling,
    shown=_shown_connections,
    findings=about("acsma-7", _settling_finding),
    draw=SETTLED.draw,
)


PAPER_R = (2, 5, 3, 3)
"""Mean aggressiveness r of links 1 to 4 in section 6.1.6 of the paper. [thousandths]"""


def _retransmissions(run: Run, user: int) -> Quantity:
    """Return the number of a user's retransmissions per second. [packets/s]"""
    measured_s = network.DURATION_S - network.WARMUP_S
    return run.quantity("flows", f"user-{user}", "retransmissions") / measured_s


def _measure_means(runs: Runs) -> dict[str, Quantity]:
    run = network.NACK.run(runs)
    values = {f"aggressiveness_{link}": network.aggressiveness(run, link) for link in LINKS}
    return values | {f"retransmissions_{user}": _retransmissions(run, user) for user in LINKS}


def _mean_finding(runs: Runs) -> str:
    run = network.NACK.run(runs)
    r = network.of_all(network.aggressiveness, run)
    rates = network.of_all(network.rate, run)
    again = listed(item * rate for item, rate in zip(r, rates, strict=True))
    of_r = _of_nack(runs, lambda run, link: network.aggressiveness(run, link) * 1e3)
    of_again = _of_nack(runs, _retransmissions)
    return (
        f"mean r is {listed(each * 1e3 for each in r)} thousandths here, and section 6.1.6 of the "
        f"paper has {', '.join(map(str, PAPER_R))} for the same setting. The paper computes its "
        f"retransmissions as Thr r, which is {again} packets/s here. The other retransmissions "
        f"follow timeouts. Variants for r in thousandths: {of_r}. Variants for retransmissions: "
        f"{of_again}"
    )


FIG6_4 = Study(
    key="acsma-fig6_4",
    title="Section 6.1.7: aggressiveness and retransmissions of n-ACK, topology a",
    points=points_of(network.NACK, IN_A),
    measure=_measure_means,
    findings=about("acsma-20", _mean_finding),
)
