"""Tables of results for the page on per-station fairness in a hot-spot."""

from collections.abc import Iterator, Sequence

from lasthop.studies.hotspot import beta, cell, fig04, shared
from lasthop.studies.hotspot.sweeps import CONNECTIONS, WINDOWS
from tables.cells import Values, listed, table

HOTSPOT = Values("hotspot")


def figures() -> Iterator[str]:
    """Yield the table of the model's values for each figure."""

    def row(
        figure: int, what: str, quantity: str, over: Sequence[int], study: str = ""
    ) -> list[str]:
        names = (f"{study or f'fig{figure:02d}'}.{quantity}_{x}" for x in over)
        return [f"{figure}", what, listed(map(HOTSPOT.predicted, names))]

    swept = listed(map(str, WINDOWS))
    yield from table(
        ["figure", "station 1 against one connection each of the other stations", "model"],
        [
            row(5, "1 to 6 uploads, others download: eta", "eta", CONNECTIONS),
            row(5, "queue of station 1 [packets]", "queue", CONNECTIONS),
            row(6, "1 to 6 downloads, others download: eta", "eta", CONNECTIONS),
            row(7, "1 to 6 downloads at 2 Mb/s, others download: eta", "eta", CONNECTIONS),
            row(8, f"window {swept}, all download: eta", "eta", WINDOWS),
            row(8, "as above, others with windows of 6: eta", "eta", WINDOWS, "footnote_9"),
            row(9, "1 to 6 uploads, others upload: eta", "eta", CONNECTIONS),
            row(10, "1 to 6 uploads at 2 Mb/s, others upload: eta", "eta", CONNECTIONS),
            row(11, f"window {swept}, all upload: eta", "eta", WINDOWS),
        ],
    )


def priority() -> Iterator[str]:
    """Yield the table of the stations' priority over the access point, from the Markov chain and
    from the engine.
    """
    yield from table(
        [f"CWmin of the station, {cell.AP_CWMIN} at the AP", "`beta_from_access`", "engine"],
        [
            [
                f"{cwmin}",
                HOTSPOT.predicted(f"beta.cwmin_{cwmin}"),
                HOTSPOT.simulated(f"beta.cwmin_{cwmin}"),
            ]
            for cwmin in beta.CWMINS
        ],
    )


CASES = {
    "fig05": ("{} uploads against downloads", CONNECTIONS),
    "fig06": ("{} downloads against downloads", CONNECTIONS),
    "fig09": ("{} uploads against uploads", CONNECTIONS),
    "fig08": ("window of {} packets, downloads", WINDOWS),
    "footnote_9": ("window of {} packets against 6, downloads", WINDOWS),
    "fig11": ("window of {} packets, uploads", WINDOWS),
}
"""For each study, the setting of station 1 that is varied, as a text with `{}` in place of its
value, and the values of this setting.
"""


def simulated() -> Iterator[str]:
    """Yield the table of fairness level, queue and losses of each point, predicted and
    simulated.
    """
    quantities = {"eta": 1.0, "queue": 1.0, "loss": 100.0}
    yield from table(
        [
            *("case", "$\\eta$, model", "$\\eta$, simulated", "$Q_1$, model", "$Q_1$, simulated"),
            *("p, model [%]", "p, simulated [%]"),
        ],
        [
            [
                words.format(x) if x != 1 else words.replace("loads", "load", 1).format(1),
                *(
                    way(f"{figure}.{name}_{x}", factor)
                    for name, factor in quantities.items()
                    for way in (HOTSPOT.predicted, HOTSPOT.simulated)
                ),
            ]
            for figure, (words, over) in CASES.items()
            for x in over
        ],
    )


RATIOS = ("airtime_ratio", "airtime_ratio_by_rates", "flow_ratio", "updown_ratio")


def agreement() -> Iterator[str]:
    """Yield the table of results with the paper's estimator and with lasthop's estimator
    ("agreement") of the rate C.
    """

    def both(figure: str, what: str, *names: str, kind: str = "agreed_") -> list[str]:
        ways = [
            [f"{study}.{start}{name}" for study, _, name in map(parted, names)]
            for start in ("", kind)
        ]
        return [figure, what, *(listed(map(HOTSPOT.simulated, way)) for way in ways)]

    def parted(name: str) -> tuple[str, str, str]:
        return name.partition(".")

    def extremes(figure: str, start: str) -> str:
        names = [f"vsb.{start}eta_{figure}_{x}" for x in over(figure)]
        by_mean = sorted(names, key=lambda name: HOTSPOT.of(name).simulated or 0.0)
        return listed(map(HOTSPOT.simulated, (by_mean[0], by_mean[-1])))

    def over(figure: str) -> Sequence[int]:
        return shared.SWEEPS[figure].settings["x"]

    ways = ("", "agreed_")
    phases = tuple(fig04.PHASES)
    goodputs = [
        listed(HOTSPOT.simulated(f"vsb.{start}{figure}") for figure in shared.MEASURED)
        for start in ("with_", "agreed_")
    ]
    yield from table(
        ["figure", "quantity", "paper's estimator", "estimator by agreement"],
        [
            both(
                "4",
                "C without traffic, with one download at 11 Mb/s, with a second at 2 Mb/s, "
                "after the second ends [Mb/s]",
                *(f"fig04.capacity_{phase}" for phase in phases),
            ),
            both(
                "4",
                "95 % of pings arrive within, in the last three of these phases [ms]",
                *(f"fig04.ping_p95_{phase}" for phase in phases[1:]),
            ),
            *(
                [
                    f"{int(figure[3:])}",
                    "eta, smallest and largest",
                    *(extremes(figure, start) for start in ways),
                ]
                for figure in shared.SWEEPS
            ),
            ["5 to 9", "goodput of all stations, one value per figure [Mb/s]", *goodputs],
            both(
                "12",
                "eta after both have started, goodput of both [Mb/s]",
                *("fig12.eta_after", "fig12.total_after"),
            ),
            both(
                "13, 14",
                "ratio of air times, of air times with weights by rate, of flows, of directions",
                *(f"fig13.{name}" for name in RATIOS),
            ),
        ],
    )


TABLES = {
    "figures": figures,
    "priority": priority,
    "simulated": simulated,
    "agreement": agreement,
}
