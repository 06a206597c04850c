"""Tables of results on pages, from stored runs.

On a page, each table is between two comments. `filled` updates the tables.
"""

import re
from collections.abc import Callable, Iterator, Mapping

import claims
import verdicts

from tables import acsma, ax, edca, hotspot, red, validation, vbs
from tables.assumed import assumed

Tables = Mapping[str, Callable[[], Iterator[str]]]

OF_PAGES: Mapping[str, Tables] = {
    "papers/hotspot.md": {"assumptions": assumed("hotspot"), **hotspot.TABLES},
    "papers/edca.md": {"assumptions": assumed("edca"), **edca.TABLES},
    "papers/vbs.md": {"assumptions": assumed("vbs"), **vbs.TABLES},
    "papers/acsma.md": {"assumptions": assumed("acsma"), **acsma.TABLES},
    "papers/aggregates.md": {"assumptions": assumed("aggregates")},
    "papers/airtime.md": {"assumptions": assumed("airtime")},
    "papers/bottleneck.md": {"assumptions": assumed("bottleneck")},
    "papers/dcf.md": {"assumptions": assumed("dcf")},
    "papers/red.md": {"assumptions": assumed("red"), **red.TABLES},
    "papers/ax.md": ax.TABLES,
    "papers/index.md": {"messages": lambda: verdicts.messages_table(claims.load(), "")},
    "validation.md": validation.TABLES,
}
"""Functions that return the lines of each table, by page and name of the table."""

PLACE = re.compile(
    r"^( *)(<!-- table (\S+) of [^>]*-->).*?(<!-- end of table -->)", re.DOTALL | re.MULTILINE
)


def filled(page: str, text: str) -> str:
    """Return the text of a page with its tables brought up to date.

    Raises
    ------
    ValueError
        If the page does not have exactly one pair of comments for each of its tables.
    """
    known = OF_PAGES[page]
    places = [place[3] for place in PLACE.finditer(text)]
    if sorted(places) != sorted(known):
        raise ValueError(f"{page} has places for {places}, its tables are {list(known)}")

    def written(place: re.Match[str]) -> str:
        indent, begin, name, end = place.groups()
        lines = [begin, "", *known[name](), "", end]
        return "\n".join(f"{indent}{line}".rstrip() for line in lines)

    return PLACE.sub(written, text)
