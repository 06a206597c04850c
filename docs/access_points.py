"""Examples with each kind of access point, as `lasthop init` writes them."""

from functools import partial

from lasthop.first import KINDS, QUESTIONS, scenario, settled


def example(kind: str) -> str:
    """The usual answers for 802.11ax, with this kind of access point."""
    given = {"hop": "802.11ax", "queue": kind}
    known: dict[str, object] = {}
    for question in QUESTIONS:
        text = given.get(question.key) or question.default(known)
        known[question.key] = question.read(text, known)
    return scenario(settled(known), f"{kind}.toml")


PAGES = {f"examples/access-points/{kind}.toml": partial(example, kind) for kind in KINDS}
"""Generated examples, and what writes them."""
