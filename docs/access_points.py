"""Write example scenarios for each type of access point (as `lasthop init` does), and the page of
facts about access points.
"""

from collections.abc import Callable
from functools import partial

from lasthop.init import KINDS, MODELS, QUESTIONS, Answers, scenario
from lasthop.scenario.access_points import table


def example(kind: str) -> str:
    """Return the default scenario of `lasthop init` for 802.11ax with this type of access point."""
    given = {"aim": MODELS, "hop": "802.11ax", "queue": kind}
    known = Answers()
    for question in QUESTIONS:
        text = given.get(question.key) or question.default(known)
        known = known.with_answer(question.key, question.read(text, known))
    return scenario(known, f"{kind}.toml")


def facts_page() -> str:
    """Return the page with the table of facts about access points."""
    return f"""\
# Facts about access points

`lasthop init --queue`, `lasthop import openwrt`, `hostapd` and `iw`, and `lasthop check` read these
facts. If a file lacks a value, the value is that of this table, and a comment in the scenario has
its source. [The guide](../guide/access-points.md) explains them.

{table()}"""


PAGES: dict[str, Callable[[], str]] = {
    "docs/reference/access-points.md": facts_page,
    **{f"examples/access-points/{kind}.toml": partial(example, kind) for kind in KINDS},
}
"""Functions that return the generated files, by path."""
