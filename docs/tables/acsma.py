"""Tables of results for the page on TCP over adaptive CSMA."""

from collections.abc import Callable, Iterator

import beside

from lasthop.studies.acsma import network
from lasthop.studies.acsma.settings import FEW_KS
from tables.cells import Values, listed, table

ACSMA = Values("acsma")

Users = tuple[int, ...]

USERS = {"a": 4, "b": 4, "c": 4, "d": 3}
"""Number of users in each topology."""


def variants() -> Iterator[str]:
    """Yield the table of results with n-ACK: the paper's values, values simulated with the settings
    in the paper's text, and values simulated with each variant of the settings.
    """

    def row(words: str, cell: Callable[[str], str], start: str, later: str) -> list[str]:
        names = (
            [f"fig6_2.total_{start}nack_{topology}" for topology in network.TOPOLOGIES],
            [f"fig6_2.gap_{start}nack_{topology}" for topology in network.TOPOLOGIES],
            [f"fig6_3.connections_{start or 'nack_'}{user}" for user in network.LINKS],
            [f"fig6_12.total_{k}{later}" for k in FEW_KS],
        )
        return [words, *(listed(map(cell, each)) for each in names)]

    yield from table(
        [
            *("setting, n-ACK", "totals in a, b, c [packets/s]", "utility gaps in a, b, c"),
            *(
                "connections of each user in a",
                f"totals at k = {listed(map(str, FEW_KS))} [packets/s]",
            ),
        ],
        [
            row("paper", ACSMA.stated, "", ""),
            row("settings from the text", ACSMA.simulated, "", ""),
            *(
                row(variant.words, ACSMA.simulated, f"{name}_", f"_{name}")
                for name, variant in network.VARIANTS.items()
            ),
        ],
    )


def errors() -> Iterator[str]:
    """Yield the table of networks with lossy links: connections, rates, totals and gaps for each
    rule.
    """
    rows = []
    for place in beside.WITH_ERRORS.places():
        point = beside.WITH_ERRORS.point(place).replace("-", "_")
        users = network.LINKS[: USERS[place["topology"]]]

        def means(name: str, digits: int, point: str = point, users: Users = users) -> str:
            names = (f"errors.{name}_{point}_{user}" for user in users)
            return listed(f"{ACSMA.of(each).simulated:.{digits}f}" for each in names)

        rows.append(
            [
                place["topology"],
                f"{place['error']:.0%}",
                f"`{place['rule']}`",
                means("connections", 1),
                means("rate", 0),
                ACSMA.simulated(f"errors.total_{point}"),
                ACSMA.simulated(f"errors.gap_{point}"),
            ]
        )
    heads = ["topology", "errors", "rule", "mean connections of each user", "rates [packets/s]"]
    yield from table([*heads, "total [packets/s]", "utility gap"], rows)


TABLES = {"variants": variants, "errors": errors}
