"""A single link as a scenario: `12 Mbps, 40 ms, queue 100`, for programs at its two ends.

The rate and the queue are those of each direction, and the delay is one way, as for mm-link and
mm-delay. Values are read as those of a scenario file.
"""

from collections.abc import Mapping, Sequence

from lasthop.errors import ScenarioError, UserError
from lasthop.scenario import Scenario

CLIENT, SERVER = "client", "server"
"""Places at the two ends; the outside is behind the server."""
LINK, FLOW = "client-server", "link"
WAYS = {FLOW: (CLIENT, SERVER)}
"""The flow that stands for the programs' way; see `lasthop.emulation.places.Ways`."""
EXAMPLE = '--link "12 Mbps, 40 ms, queue 100"'

RATE, DELAY = f"link.{LINK}.rate", f"link.{LINK}.delay"
NAMED = {
    "queue": (f"link.{LINK}.queue", f"link.{LINK}.back_queue"),
    "loss": (f"link.{LINK}.loss",),
}
"""Settings of each word that stands before its value."""

TREE: Mapping[str, object] = {
    "duration": "1 s",  # the run ends with the program
    "warmup": "0 s",
    "link": {LINK: {"from": CLIENT, "to": SERVER}},
    "flow": {FLOW: {"from": CLIENT, "to": SERVER, "start_spread": "0 s"}},
}


def link(words: str, settings: Sequence[tuple[str, object]] = ()) -> Scenario:
    """The scenario of a link.

    Parameters
    ----------
    words : str
        Rate, delay one way, and if there is one `queue` in packets and `loss` as a probability,
        separated by commas.
    settings : sequence of pairs
        Values to replace after that.

    Raises
    ------
    UserError
        If the words say no link.
    ScenarioError
        If the settings are refused.
    """
    said = values_of(words)
    own = [(path, value) for path, (_, value) in said.items()]
    tree = dict(TREE) | {"name": " ".join(words.split())[:200]}
    try:
        return Scenario(tree, [*own, *settings])
    except ScenarioError as error:
        for problem in error.problems:
            if problem.setting in said:
                word = said[problem.setting][0]
                raise refused(words, f"{word}: {problem.message}", problem.hint) from None
        raise


def values_of(words: str) -> dict[str, tuple[str, str]]:
    """What is said, by setting: the word for it, and the value."""
    parts = [" ".join(part.split()) for part in words.split(",")]
    said: dict[str, tuple[str, str]] = {}
    plain = iter([("rate", RATE), ("delay", DELAY)])
    for part in parts:
        word, _, value = part.partition(" ")
        if word in NAMED:
            if NAMED[word][0] in said:
                raise refused(words, f"`{word}` is said twice")
            said |= dict.fromkeys(NAMED[word], (word, value))
            continue
        what, path = next(plain, ("", ""))
        if not part or not path:
            shown = f'"{part}" is too much' if part else "a value is missing"
            raise refused(words, shown)
        said[path] = (what, part)
    if (missing := next(plain, None)) is not None:
        raise refused(words, f"the {missing[0]} is missing")
    return said


def refused(words: str, why: str, hint: str | None = None) -> UserError:
    """What to say of words that are no link."""
    allowed = "" if "allowed" in why else "; allowed are a rate, a delay, queue N, loss P"
    return UserError(f'--link "{words}": {why}{allowed}', hint or EXAMPLE)
