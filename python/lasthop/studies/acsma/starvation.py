"""Figures 4.2, 4.3 and B.1: topology a with one connection a user.

With the settings of chapter 4: beta 800, r up to 0.01 and read every two seconds. The step of 0.05
times two seconds is that of the later chapters, so that r for a packet is the same.
"""

from typing import TYPE_CHECKING, Any

from lasthop.studies.acsma import network
from lasthop.studies.acsma.network import LINKS
from lasthop.studies.study import Quantity, Run, Runs, Study

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

R_MAX = 0.01
SINGLE: dict[str, Any] = {
    "connections": "one",
    "beta": 800,
    "r_interval": "2 s",
    "service_rate": network.C_PPS,
}
FULL: dict[str, Any] = {**SINGLE, "aqm": False, "r_max": R_MAX}
STARVING_BETAS = (100, 200, 400, 800)
"""Of the run that tells what starves user 2."""

LATE_S = (400.0, 500.0)
"""The time in which final values are read. [s]"""


def _throughputs(runs: Runs) -> dict[str, Quantity]:
    return {
        f"{scheme}_{user}": network.rate(runs[scheme], user)
        for scheme in ("lcsma", "acsma")
        for user in LINKS
    }


def _draw_throughputs(runs: Runs) -> "Figure":
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    def member(point: str, label: str) -> Member:
        return Member(label, LINKS, [network.rate(runs[point], user) for user in LINKS])

    return family_figure(
        "user",
        [
            FamilyPanel(
                "throughput [packets/s]",
                [
                    member("lcsma", "L-CSMA (802.11)"),
                    member("acsma", "A-CSMA, one connection"),
                ],
                "one connection a user: user 2 starves",
            )
        ],
        ticks={float(user): f"{user}" for user in LINKS},
        panel_mm=60.0,
    )


def _legacy(runs: Runs) -> dict[str, str]:
    shares = network.listed([network.rate(runs["legacy"], user) for user in LINKS])
    slots = network.listed([network.rate(runs["lcsma"], user) for user in LINKS])
    plain = network.listed([network.rate(runs["plain"], user) for user in LINKS])
    return {
        "acsma-1": (
            f"with 802.11's slots and binary backoff users get {slots} packets/s, {plain} if links "
            "do not wait for EIFS after frames that they sense beyond 250 m, and with the "
            f"idealised backoff of (4.1) at rho = 2.24 {shares}"
        )
    }


FIG4_2 = Study(
    subject="acsma",
    name="fig4_2",
    title="Figure 4.2: one connection over L-CSMA and over A-CSMA, topology a",
    points={
        "lcsma": network.scenario("one connection over L-CSMA", **network.SCHEMES["lcsma"]),
        "acsma": network.scenario("one connection over A-CSMA", **FULL),
        "legacy": network.scenario(
            "one connection, idealised backoff",
            access="legacy",
            service_rate=network.C_PPS,
            queue=50,
        ),
        "plain": network.scenario("one connection over L-CSMA without EIFS", **network.PLAIN),
    },
    measure=_throughputs,
    findings=_legacy,
    draw=_draw_throughputs,
)


def _final(run: Run) -> list[Quantity]:
    return [network.link(run, link, "aggressiveness") for link in LINKS]


def _measure_r(runs: Runs) -> dict[str, Quantity]:
    return {
        f"aggressiveness_{link}": value
        for link, value in zip(LINKS, _final(runs["late"]), strict=True)
    }


WINDOWS_S = ((0.0, 20.0), (20.0, 50.0), (50.0, 100.0), (100.0, 200.0), LATE_S)
"""Times over which figure 4.3 averages r. [s]"""


def _draw_r(runs: Runs) -> "Figure":
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    middles = [sum(window) / 2 for window in WINDOWS_S]

    def member(link: int) -> Member:
        points = ["late" if window == LATE_S else f"{window[0]:g}" for window in WINDOWS_S]
        values = [network.link(runs[point], link, "aggressiveness") for point in points]
        return Member(f"link {link}", middles, values)

    return family_figure(
        "time [s]",
        [
            FamilyPanel(
                "r [-]", [member(link) for link in LINKS], "without AQM", levels={"r_max": R_MAX}
            )
        ],
        panel_mm=60.0,
    )


def _climbing(runs: Runs) -> dict[str, str]:
    run = runs["late"]
    waiting = [run.quantity("queues", f"{link}", "occupancy_packets") for link in LINKS]
    return {
        "acsma-2": (
            f"r reaches {R_MAX} with {R_MAX / network.PER_PACKET:.0f} packets queued. Links whose "
            "users get something hold that; a starving user's TCP waits for timeouts, and its link "
            f"has fewer: {network.listed(waiting)} packets in the order of links, as in some runs "
            "users 3 and 4 starve one another too"
        )
    }


FIG4_3 = Study(
    subject="acsma",
    name="fig4_3",
    title="Figure 4.3: aggressiveness of the links under one connection a user",
    points={
        ("late" if window == LATE_S else f"{window[0]:g}"): network.scenario(
            "one connection over A-CSMA", seconds=window, **FULL
        )
        for window in WINDOWS_S
    },
    measure=_measure_r,
    findings=_climbing,
    draw=_draw_r,
)

EQUAL = 2 ** (1 / 3) * network.PER_PACKET ** (2 / 3)
"""What appendix B makes every r, with r for a packet in place of its alpha."""


def _measure_aqm(runs: Runs) -> dict[str, Quantity]:
    run = runs["800"]
    values = {
        f"aggressiveness_ratio_{link}": value / EQUAL
        for link, value in zip(LINKS, _final(run), strict=True)
    }
    return values | {f"throughput_{user}": network.rate(run, user) for user in LINKS}


def _betas(runs: Runs) -> dict[str, str]:
    by_beta = "; ".join(
        f"at beta {beta} {network.listed([network.rate(runs[f'{beta}'], u) for u in LINKS])}"
        for beta in STARVING_BETAS
    )
    return {
        "acsma-3": (
            f"r is near {EQUAL:.3g} on every link whatever beta is, so that the access, which "
            f"depends on beta r, is not the same: {by_beta} packets/s. How r follows "
            "from a queue is "
            "not given; equal r starve user 2 the more the larger beta r"
        )
    }


def _draw_aqm(runs: Runs) -> "Figure":
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    run = runs["800"]
    return family_figure(
        "link, user",
        [
            FamilyPanel(
                "throughput [packets/s]",
                [Member("beta 800", LINKS, [network.rate(run, user) for user in LINKS])],
                "one connection a user, with AQM",
            ),
            FamilyPanel(
                "r [-]",
                [Member("beta 800", LINKS, _final(run))],
                levels={"2^(1/3) alpha^(2/3)": EQUAL},
            ),
        ],
        ticks={float(user): f"{user}" for user in LINKS},
    )


FIGB_1 = Study(
    subject="acsma",
    name="figb_1",
    title="Figure B.1: one connection a user and AQM, topology a",
    points={
        f"{beta}": network.scenario(
            "one connection over A-CSMA with AQM", **{**SINGLE, "beta": beta}
        )
        for beta in STARVING_BETAS
    },
    measure=_measure_aqm,
    findings=_betas,
    draw=_draw_aqm,
)
