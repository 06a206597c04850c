"""Figures 4.2, 4.3 and B.1: topology a with one connection per user.

The settings are those of chapter 4. The weight beta of the utility is 800. The aggressiveness r of
a link is at most 0.01 and is updated every two seconds. The step size in the update of r is 0.05
times two seconds. This product equals that of the later chapters, so that r per queued packet is
the same.
"""

from functools import partial
from typing import Any

from lasthop.models.acsma.legacy import PAPER_ACCESS_INTENSITY
from lasthop.studies.acsma import network
from lasthop.studies.acsma.network import LINKS, USERS
from lasthop.studies.picture import Abscissa, Panel, Picture
from lasthop.studies.study import Quantity, Run, Runs, Study, about, listed
from lasthop.studies.sweep import Sweep

R_MAX = 0.01
SINGLE: dict[str, Any] = {
    "connections": "one",
    "beta": 800,
    "r_interval": "2 s",
    **network.SCHEMES["hack"],
}
FULL: dict[str, Any] = {**SINGLE, "aqm": False, "r_max": R_MAX}
STARVING_BETAS = (100, 200, 400, 800)
"""Values of beta, the weight of the utility, in the runs that show why user 2 starves."""

LATE_S = (400.0, 500.0)
"""Last interval of a run, in which final values are measured. [s]"""


def _throughputs(runs: Runs) -> dict[str, Quantity]:
    return {
        f"{scheme}_{user}": network.rate(runs[scheme], user)
        for scheme in ("lcsma", "acsma")
        for user in LINKS
    }


THROUGHPUTS = Picture(
    USERS,
    [
        Panel(
            "throughput [packets/s]",
            [
                network.each("L-CSMA (802.11)", "lcsma", network.rate),
                network.each("A-CSMA, one connection", "acsma", network.rate),
            ],
            "one connection per user: user 2 starves",
        )
    ],
    panel_mm=60.0,
)


def _legacy(runs: Runs) -> str:
    legacy, slots, plain = (
        listed(network.of_all(network.rate, runs[point])) for point in ("legacy", "lcsma", "plain")
    )
    return (
        f"with 802.11's slots and binary backoff, users get {slots} packets/s. They get {plain} if "
        "links do not wait for EIFS after frames that they sense beyond 250 m. With the idealised "
        f"backoff of (4.1) at rho = {PAPER_ACCESS_INTENSITY} they get {legacy}"
    )


FIG4_2 = Study(
    key="acsma-fig4_2",
    title="Figure 4.2: one connection over L-CSMA and over A-CSMA, topology a",
    points={
        "lcsma": network.scenario("one connection over L-CSMA", **network.SCHEMES["lcsma"]),
        "acsma": network.scenario("one connection over A-CSMA", **FULL),
        "legacy": network.scenario(
            "one connection, idealised backoff",
            access="legacy",
            service_rate=network.THEORY_PPS,
            queue=50,
        ),
        "plain": network.scenario("one connection over L-CSMA without EIFS", **network.PLAIN),
    },
    measure=_throughputs,
    findings=about("acsma-1", _legacy),
    draw=THROUGHPUTS.draw,
)


WINDOWS_S = ((0.0, 20.0), (20.0, 50.0), (50.0, 100.0), (100.0, 200.0), LATE_S)
"""Time intervals in which figure 4.3 averages the aggressiveness r. [s]"""


AVERAGES = Sweep(
    "{window}",
    lambda window: network.scenario("one connection over A-CSMA", seconds=window, **FULL),
    {"window": WINDOWS_S},
)
LATE = AVERAGES.point({"window": LATE_S})


def _measure_r(runs: Runs) -> dict[str, Quantity]:
    return {f"aggressiveness_{link}": network.aggressiveness(runs[LATE], link) for link in LINKS}


OVER_TIME = Picture(
    Abscissa("time [s]", lambda window: sum(window) / 2),
    [
        Panel(
            "r [-]",
            [
                line
                for link in LINKS
                for line in AVERAGES.lines(
                    f"link {link}", "window", partial(network.aggressiveness, name=link)
                )
            ],
            "without AQM",
            levels={"r_max": R_MAX},
        )
    ],
    panel_mm=60.0,
)


def _climbing(runs: Runs) -> str:
    run = runs[LATE]
    waiting = [run.quantity("queues", f"{link}", "occupancy_packets") for link in LINKS]
    return (
        f"r reaches {R_MAX} with {R_MAX / network.PER_PACKET:.0f} packets queued. Links whose "
        "users get some throughput have that many. The TCP of a starving user waits for timeouts, "
        f"so its link has fewer. The queues are {listed(waiting)} packets in the order of links, "
        "since in some runs users 3 and 4 starve one another too"
    )


FIG4_3 = Study(
    key="acsma-fig4_3",
    title="Figure 4.3: aggressiveness of the links with one connection per user",
    points=AVERAGES.points(),
    measure=_measure_r,
    findings=about("acsma-2", _climbing),
    draw=OVER_TIME.draw,
)

BY_BETA = Sweep(
    "{beta}",
    lambda beta: network.scenario(
        "one connection over A-CSMA with AQM", **{**SINGLE, "beta": beta}
    ),
    {"beta": STARVING_BETAS},
)

EQUAL = 2 ** (1 / 3) * network.PER_PACKET ** (2 / 3)
"""Aggressiveness r of every link at equilibrium, by the formula of appendix B. The alpha of the
formula is replaced by `PER_PACKET`. [-]
"""


def _measure_aqm(runs: Runs) -> dict[str, Quantity]:
    run = BY_BETA.run(runs, beta=800)
    values = {
        f"aggressiveness_ratio_{link}": value / EQUAL
        for link, value in zip(LINKS, network.of_all(network.aggressiveness, run), strict=True)
    }
    values |= {f"throughput_{user}": network.rate(run, user) for user in LINKS}
    values |= {f"rtt_{user}": network.rtt(run, user) for user in LINKS}
    return values | {f"rtt_ratio_{user}": _over_b6(run, user) for user in LINKS}


def _over_b6(run: Run, user: int) -> Quantity:
    """Return the ratio of a user's mean round-trip time to r / (alpha x), the prediction of (B.6).
    [-]

    Here r is the aggressiveness of the link, alpha is r per packet, and x is the throughput.
    """
    arrived = network.rate(run, user) * network.rtt(run, user)
    return arrived * network.PER_PACKET / network.aggressiveness(run, user)


def _waiting(run: Run, user: int) -> Quantity:
    """Return the mean queue of the link of a user. [packets]"""
    return run.quantity("queues", f"{user}", "occupancy_packets")


def _round_trips(runs: Runs) -> str:
    """Return a text on the round-trip times, and on their relation to the aggressiveness r and the
    queues.
    """
    run = BY_BETA.run(runs, beta=800)
    queues = network.of_all(_waiting, run)
    r = network.of_all(network.aggressiveness, run)
    held = listed(item * network.PER_PACKET / each for item, each in zip(queues, r, strict=True))
    times = listed(network.of_all(network.rtt, run))
    lost = listed(run.quantity("flows", f"user-{user}", "loss_probability") for user in LINKS)
    return (
        f"round-trip times are {times} s. The mean queue times alpha over the mean r is {held}, "
        f"so r follows from the queue. The fractions of lost packets are {lost}"
    )


def _betas(runs: Runs) -> dict[str, str]:
    by_beta = "; ".join(
        f"{listed(network.of_all(network.rate, run))} packets/s at beta {beta}"
        for beta, run in zip(STARVING_BETAS, BY_BETA.runs(runs), strict=True)
    )
    other = {
        words: listed(network.of_all(network.rate, runs[point]))
        for point, words in OTHERS_OF_B1.items()
    }
    text = "; ".join(f"{words}: {rates}" for words, rates in other.items())
    return {
        "acsma-3": (
            f"r is near {EQUAL:.3g} on every link at any beta. Since the access depends on beta r, "
            f"the throughputs depend on beta: {by_beta}. The paper does not give how r follows "
            "from a queue. With equal r, a larger beta r starves user 2 more. Throughputs with "
            f"other settings, in packets/s: {text}"
        ),
        "acsma-22": _round_trips(runs),
    }


OTHERS_OF_B1 = {
    "double": "r of 6e-5 per packet",
    "theory": "continuous time without silences",
}


WITH_AQM = Picture(
    Abscissa("link, user", ticks=LINKS),
    [
        Panel(
            "throughput [packets/s]",
            [network.each("beta 800", "800", network.rate)],
            "one connection per user, with AQM",
        ),
        Panel(
            "r [-]",
            [network.each("beta 800", "800", network.aggressiveness)],
            levels={"2^(1/3) alpha^(2/3)": EQUAL},
        ),
        Panel(
            "round-trip time [s]", [network.each("beta 800", "800", network.rtt)], from_zero=True
        ),
    ],
)

FIGB_1 = Study(
    key="acsma-figb_1",
    title="Figure B.1: one connection per user and AQM, topology a",
    points=BY_BETA.points()
    | {
        "double": network.scenario(
            "one connection over A-CSMA with AQM, a larger r",
            **{**SINGLE, "r_per_packet": 2 * network.PER_PACKET},
        ),
        "theory": network.scenario(
            "one connection over A-CSMA with AQM in continuous time",
            **{
                **{key: SINGLE[key] for key in ("connections", "beta", "r_interval")},
                "service_rate": network.THEORY_PPS,
            },
        ),
    },
    measure=_measure_aqm,
    findings=_betas,
    draw=WITH_AQM.draw,
)
