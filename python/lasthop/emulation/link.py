"""Scenario of a single link, such as `12 Mbps, 40 ms, queue 100`, for programs at its two ends.

Each direction has the same rate and a queue of the same limit. The delay is one-way, as in mm-link
and mm-delay. Instead of a rate, each direction may have a trace. Values have the same format as in
a scenario file.
"""

from collections.abc import Mapping, Sequence

from lasthop.errors import ScenarioError, UserError
from lasthop.scenario.scenario import Scenario

CLIENT, SERVER = "client", "server"
"""Names of the hosts at the two ends of the link. Addresses outside the scenario are reached
through the server's end."""
LINK, FLOW = "client-server", "link"
WAYS = {FLOW: (CLIENT, SERVER)}
"""Name of the flow that defines the path of programs, and the names of the flow's source and sink.
See `lasthop.emulation.places.Ways`."""
EXAMPLES = '--link "12 Mbps, 40 ms, queue 100"', '--link "40 ms, queue 100"'
"""Two examples of the option `--link`: without traces, and with traces."""

RATE, DELAY = f"link.{LINK}.rate", f"link.{LINK}.delay"
BACK_RATE = f"link.{LINK}.back_rate"
NAMED = {
    "queue": (f"link.{LINK}.queue", f"link.{LINK}.back_queue"),
    "loss": (f"link.{LINK}.loss",),
}
"""Words of the option `--link` that are followed by a value. Each word has the key paths of the
settings that get this value.
"""

TREE: Mapping[str, object] = {
    "duration": "1 s",  # the run ends with the program, not after this duration
    "warmup": "0 s",
    "link": {LINK: {"from": CLIENT, "to": SERVER}},
    "flow": {FLOW: {"from": CLIENT, "to": SERVER, "start_spread": "0 s"}},
}


def link(
    words: str,
    settings: Sequence[tuple[str, object]] = (),
    traces: tuple[str, str] | None = None,
) -> Scenario:
    """Return the scenario of a single link.

    Parameters
    ----------
    words : str
        Rate, one-way delay, and optionally `queue` in packets and `loss` as a probability,
        separated by commas. With traces, the rate is absent, and the delay is optional.
    settings : sequence of pairs
        Key paths and values of settings, which replace the settings of the link.
    traces : two str, optional
        Trace files with delivery opportunities: from `client` to `server`, and from `server` to
        `client`.

    Raises
    ------
    UserError
        If `words` do not describe a link, or a trace cannot be read.
    ScenarioError
        If the engine refuses the settings.
    """
    values = values_of(words, traces)
    own: list[tuple[str, object]] = [(path, value) for path, (_, value) in values.items()]
    if traces is not None:
        own += [
            (path, {"trace_file": name})
            for path, name in zip((RATE, BACK_RATE), traces, strict=True)
        ]
    named = [words, *(traces or ())]
    tree = dict(TREE) | {"name": ", ".join(" ".join(each.split()) for each in named if each)[:200]}
    try:
        return Scenario(tree, [*own, *settings])
    except ScenarioError as error:
        for problem in error.problems:
            if traces is not None and problem.setting in (RATE, BACK_RATE):
                name = traces[problem.setting == BACK_RATE]
                raise UserError(f"--trace {name}: {problem.message}", problem.hint) from None
            if problem.setting in values:
                word = values[problem.setting][0]
                message = f"{word}: {problem.message}"
                raise refused(words, message, traces, problem.hint) from None
        raise


def values_of(words: str, traces: object = None) -> dict[str, tuple[str, str]]:
    """Return the settings that the option `--link` contains. Each key path has two items: the word
    of the option, such as ``queue``, and the value."""
    parts = [" ".join(part.split()) for part in words.split(",")] if words or not traces else []
    lines: dict[str, tuple[str, str]] = {}
    plain = iter([("delay", DELAY)] if traces else [("rate", RATE), ("delay", DELAY)])
    for part in parts:
        word, _, value = part.partition(" ")
        if word in NAMED:
            if NAMED[word][0] in lines:
                raise refused(words, f"`{word}` is given twice", traces)
            lines |= dict.fromkeys(NAMED[word], (word, value))
            continue
        what, path = next(plain, ("", ""))
        if not part:
            raise refused(words, "a value is missing", traces)
        if not path:
            is_twice = traces is not None and is_rate(lines[DELAY][1])
            why = "the traces are the rate" if is_twice else f'"{part}" is unknown'
            raise refused(words, why, traces)
        lines[path] = (what, part)
    if (missing := next(plain, None)) is not None and not traces:
        lacks_rate = RATE in lines and not is_rate(lines[RATE][1])
        lacking = "rate" if lacks_rate else missing[0]
        raise refused(words, f"the {lacking} is missing", traces)
    return lines


def is_rate(value: str) -> bool:
    """Return whether a value has the form of a rate, even if the rate is invalid."""
    return value == "unlimited" or any(unit in value.lower() for unit in ("bps", "bit", "/s"))


def refused(words: str, why: str, traces: object, hint: str | None = None) -> UserError:
    """Return the error for an option that does not describe a link."""
    known = "a delay, queue N, loss P" if traces else "a rate, a delay, queue N, loss P"
    expected = "" if "expected" in why else f"; expected {known}, separated by commas"
    return UserError(f'--link "{words}": {why}{expected}', hint or EXAMPLES[bool(traces)])
