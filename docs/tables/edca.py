"""Tables of results for the page on TCP over 802.11e."""

from collections.abc import Iterator

from lasthop.studies.edca.cell import CWMIN, CWMINS, DIRECTIONS
from lasthop.studies.edca.fig06 import SMALL_AP
from tables.cells import Values, listed, table

EDCA = Values("edca")

PAIRS = ((31, 7), (7, 31), (3, 31))
"""Pairs of CWmin (access point, stations) in figure 6 for which the model is compared. [slots]"""

LIMITS = ((1, 1), (1, 4), (4, 1), (4, 4))
"""Pairs of TXOP limits (access point, stations) in figure 7 that the table shows. [packets]"""


def figures() -> Iterator[str]:
    """Yield the table of the model's values for each figure."""

    def predicted(*names: str) -> str:
        return listed(map(EDCA.predicted, names))

    def over(name: str) -> str:
        return predicted(*(name.format(cwmin) for cwmin in CWMINS))

    swept = listed(map(str, CWMINS))
    yield from table(
        ["figure", "quantity", "model"],
        [
            ["5a", f"download, CWmin {swept} [Mb/s]", over("fig05.down_{}")],
            ["5a", f"upload, CWmin {swept} [Mb/s]", over("fig05.up_{}")],
            ["5b", "collision rate of the AP, download", over("fig05.collision_ap_down_{}")],
            [
                "5b",
                "collision rate of a station, download",
                over("fig05.collision_station_down_{}"),
            ],
            ["5c", "active stations, download", over("fig05.active_down_{}")],
            ["5c", "active stations, upload", over("fig05.active_up_{}")],
            [
                "6a",
                "download, CWmin (AP, stations) (31, 7), (3, 3), the best pair [Mb/s]",
                predicted("fig06.down_31_7", "fig06.down_3_3", "fig06.best_pair"),
            ],
            [
                "6a",
                "upload, CWmin (AP, stations) (31, 7), (3, 3), the best pair [Mb/s]",
                predicted("fig06_up.up_31_7", "fig06_up.up_3_3", "fig06_up.best_pair"),
            ],
            [
                "6c",
                f"CWmin_STA at which 95 % of the stations are active, CWmin_AP {_list(SMALL_AP)}",
                predicted(*(f"fig06.saturation_{ap}" for ap in SMALL_AP)),
            ],
            [
                "7",
                f"TXOP limits (AP, stations) {_list(LIMITS)}, mixed queue [Mb/s]",
                predicted(*(f"fig07.mixed_{ap}_{station}" for ap, station in LIMITS)),
            ],
            ["8", f"PIFS access, CWmin_STA {swept} [Mb/s]", over("fig08.down_{}")],
            [
                "8",
                "CWmin_STA with the best goodput, collision rate of a station at it",
                predicted("fig08.cwmin_at_best", "fig08.collision_at_best"),
            ],
            [
                "9",
                "PIFS access, TXOP limits (1, 4) and best limits: download; upload [Mb/s]",
                "; ".join(
                    predicted(f"fig09.station_limit_4_{way}", f"fig09.best_{way}")
                    for way in DIRECTIONS
                ),
            ],
        ],
    )


def _list(values: tuple[object, ...]) -> str:
    return listed(map(str, values))


def simulated() -> Iterator[str]:
    """Yield the table of goodput and active stations, predicted and simulated."""
    rows = [
        (f"{way}load, CWmin {cwmin}", f"fig05.{way}_{cwmin}", f"fig05.active_{way}_{cwmin}")
        for way in DIRECTIONS
        for cwmin in CWMINS
    ]
    rows += [
        (f"download, CWmin {ap} and {own}", f"fig06.down_{ap}_{own}", f"fig06.active_{ap}_{own}")
        for ap, own in PAIRS
    ]
    rows += [
        (f"{way}load, PIFS access, CWmin {cw}", f"fig08.{way}_{cw}", f"fig08.active_{way}_{cw}")
        for way in DIRECTIONS
        for cw in (CWMIN, 63)
    ]
    yield from table(
        [
            *("case", "model [Mb/s]", "simulated [Mb/s]", "simulated over model"),
            *("active stations, model", "active stations, simulated"),
        ],
        [
            [
                words,
                EDCA.predicted(goodput),
                EDCA.simulated(goodput),
                EDCA.over(goodput),
                EDCA.predicted(active),
                EDCA.simulated(active),
            ]
            for words, goodput, active in rows
        ],
    )


TABLES = {"figures": figures, "simulated": simulated}
