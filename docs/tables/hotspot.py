"""Tables of the page on per-station fairness in a hot-spot."""

from collections.abc import Iterator, Sequence

from lasthop.studies.hotspot import beta, cell, fig04, shared
from lasthop.studies.hotspot.sweeps import CONNECTIONS, WINDOWS
from tables.cells import Values, listed, table

HOTSPOT = Values("hotspot")


def figures() -> Iterator[str]:
    """What the model says of each figure."""

    def row(
        figure: int, what: str, quantity: str, over: Sequence[int], study: str = ""
    ) -> list[str]:
        names = (f"{study or f'fig{figure:02d}'}.{quantity}_{x}" for x in over)
        return [f"{figure}", what, listed(map(HOTSPOT.predicted, names))]

    swept = listed(map(str, WINDOWS))
    yield from table(
        ["figure", "station 1 against one connection each of the others", "model"],
        [
            row(5, "1 to 6 uploads, others download: eta", "eta", CONNECTIONS),
            row(5, "its queue [packets]", "queue", CONNECTIONS),
            row(6, "1 to 6 downloads, others download: eta", "eta", CONNECTIONS),
            row(7, "the same at 2 Mb/s", "eta", CONNECTIONS),
            row(8, f"window {swept}, all download: eta", "eta", WINDOWS),
            row(8, "the same against windows of 6 (footnote 9)", "eta", WINDOWS, "footnote_9"),
            row(9, "1 to 6 uploads, others upload: eta", "eta", CONNECTIONS),
            row(10, "the same at 2 Mb/s", "eta", CONNECTIONS),
            row(11, f"window {swept}, all upload: eta", "eta", WINDOWS),
        ],
    )


def priority() -> Iterator[str]:
    """Priority over the access point by the chain and by the engine."""
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
    "fig05": ("uploads against downloads", CONNECTIONS),
    "fig06": ("downloads against downloads", CONNECTIONS),
    "fig09": ("uploads against uploads", CONNECTIONS),
    "fig08": ("packets of window, downloads", WINDOWS),
    "footnote_9": ("packets of window against 6, downloads", WINDOWS),
    "fig11": ("packets of window, uploads", WINDOWS),
}
"""What is varied of station 1, by study."""


def simulated() -> Iterator[str]:
    """Fairness level, queue and losses of every point, by model and simulation."""
    quantities = {"eta": 1.0, "queue": 1.0, "loss": 100.0}
    yield from table(
        ["case", "$\\eta$", "simulated", "$Q_1$", "simulated", "p [%]", "simulated"],
        [
            [
                f"{x} {words}" if x != 1 else f"1 {words.replace('loads', 'load', 1)}",
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
    """The paper's estimator beside C by agreement."""

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
        ["figure", "quantity", "the paper's", "by agreement"],
        [
            both(
                "4",
                "C idle, with one at 11 Mb/s, with one at 2 Mb/s beside it, after it [Mb/s]",
                *(f"fig04.capacity_{phase}" for phase in phases),
            ),
            both(
                "4",
                "95 % of pings within, in the last three [ms]",
                *(f"fig04.ping_p95_{phase}" for phase in phases[1:]),
            ),
            *(
                [
                    f"{int(figure[3:])}",
                    "eta, least and greatest",
                    *(extremes(figure, start) for start in ways),
                ]
                for figure in shared.SWEEPS
            ),
            ["5 to 9", "goodput of all, each [Mb/s]", *goodputs],
            both("12", "eta after, goodput of both [Mb/s]", "fig12.eta_after", "fig12.total_after"),
            both(
                "13, 14",
                "ratio of air times, of air times with bytes as rates, of flows, of directions",
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
