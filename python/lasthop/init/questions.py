"""Questions of `lasthop init`: texts, default answers, and functions that parse answers."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from lasthop.errors import UserError
from lasthop.init.aims import AIMS, DEFAULT_AIM, MODELS
from lasthop.init.answers import (
    AGGREGATING,
    FAR_DB,
    NEAR_DB,
    OLD_PHY,
    Answers,
    Group,
    Traffic,
    Wire,
    disciplines,
)
from lasthop.scenario.access_points import KINDS

__all__ = ["HOPS", "QUESTIONS", "Question"]

HOPS = (*reversed(AGGREGATING), "802.11g", "802.11b", "router")
"""Kinds of last hops, newest standard first."""
HOP_ALIASES = {
    **{"b": "802.11b", "g": "802.11g", "n": "802.11n", "ac": "802.11ac", "ax": "802.11ax"},
    **{"wifi4": "802.11n", "wifi5": "802.11ac", "wifi6": "802.11ax", "wifi6e": "802.11ax"},
    "wifi": "802.11ax",
    "wired": "router",
}
"""Other names of last hops, without spaces and hyphens."""
LATER = ("7", "8", "be", "bn")
"""Standards that are not supported yet, without the prefix ``802.11`` or ``wifi``."""
DEFAULT_HOP = "802.11g"
RATES_MBPS = {
    "802.11b": (1.0, 2.0, 5.5, 11.0),
    "802.11g": (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0),
}
"""Data rates of each physical layer. [Mb/s]"""

MIN_DB, MAX_DB = 8.0, 60.0
"""Range of accepted signal-to-noise ratios. Below `MIN_DB`, no frame with two streams arrives.
[dB]
"""

CLOSE = 0.7
"""Smallest similarity between an unknown word and a suggested name, as measured by `difflib`.
[-]
"""

MAX_STATIONS, MAX_CONNECTIONS, MAX_CALLS, MAX_QUEUE = 200, 1000, 100, 1_000_000
MIN_MBPS = 1e-6
MAX_MBPS, MAX_RTT_MS = 100_000.0, 10_000.0
NUMBER = r"\d{1,6}(?:\.\d{1,6})?"
RATE = r"\d{1,12}(?:\.\d{1,6})?"
PREFIXES_MBPS = {"": 1e-6, "k": 1e-3, "m": 1.0, "g": 1e3}
"""Rate of one unit, by the prefix of the unit in lower case: 1 kb/s is 0.001 Mb/s. [Mb/s]"""
UNIT = r" ?(?P<{}>[kMG]?)(?:bps|bit/s|b/s)"
DOWN_UNIT, UP_UNIT, RATE_UNIT = map(UNIT.format, ("down_unit", "up_unit", "rate_unit"))
ANY_UNIT = " ?[kMG]?(?:bps|bit/s|b/s)"
WIRE = re.compile(
    rf"(?:(?P<down>{RATE})(?:{DOWN_UNIT})?(?: down)?(?: ?/ ?|,? ?(?=\S+(?:{ANY_UNIT})? up))"
    rf"(?P<up>{RATE}){UP_UNIT}(?: up)?|(?P<rate>{RATE}){RATE_UNIT})?"
    rf",? ?(?:(?P<rtt>{NUMBER}) ?ms)?",
    re.IGNORECASE,
)
"""Pattern of a line's description: one rate, or rates from and to the servers, and round-trip
time.
"""


OTHER_HOP = f"--hop wifi is {HOP_ALIASES['wifi']}; without --hop it is {DEFAULT_HOP}"
"""Hint at the option of another last hop, for answers that are only accepted there."""

DISTANCE_HOP = f"use --hop wifi for distances, such as 3 near: {OTHER_HOP}"
"""Hint at the option of another last hop, for a station that is described by its distance."""

DISTANCE = re.compile(r"\b(near|far|old|dB)\b", re.IGNORECASE)
"""Pattern of words that describe a station of a cell with aggregation."""


@dataclass(frozen=True)
class Question:
    """One question of `lasthop init`.

    Attributes
    ----------
    key : str
        Name of the command line option, and of the answer in `Answers`.
    asked, default : callable
        Functions that return the question and the default answer from the earlier answers.
    read : callable
        Function that parses the text of an answer. It raises `UserError` with the accepted values.
    """

    key: str
    asked: Callable[[Answers], str]
    default: Callable[[Answers], str]
    read: Callable[[str, Answers], object]


def read_aim(text: str, _: Answers) -> str:
    """Return the aim from its name or from its number in the list."""
    word = text.strip().lower()
    if word.isdecimal() and 1 <= int(word) <= len(AIMS):
        return list(AIMS)[int(word) - 1]
    if word not in AIMS:
        raise UserError(f'"{text}": expected one of {", ".join(AIMS)}', _meant(word, AIMS))
    return word


def read_hop(text: str, known: Answers) -> str:
    """Return the kind of the last hop from its name or alias."""
    word = HOP_ALIASES.get(re.sub("[ -]", "", text.lower()), text.lower())
    if word == "router" and known.aim != MODELS:
        raise UserError(
            f'"{text}": must be Wi-Fi to answer this question ({known.aim})',
            f"--aim {MODELS} accepts a wired router",
        )
    if word not in HOPS:
        raise UserError(
            f'"{text}": expected one of {", ".join(HOPS)}, and wifi for {HOP_ALIASES["wifi"]}',
            _hop_meant(word),
        )
    return word


def _hop_meant(word: str) -> str | None:
    """Return a hint for an unknown last hop. Return None if nothing is similar, or for 802.11
    standards that are not in `LATER`."""
    version = re.sub(r"^(ieee)?802\.?11|^wi-?fi|[ _-]", "", word)
    if version in LATER:
        return f"{HOP_ALIASES['wifi']} is the latest here; {word} is not modelled"
    return None if word.startswith("802") else _meant(word, [*HOPS, *HOP_ALIASES])


def _meant(word: str, names: Iterable[str]) -> str | None:
    """Return a hint with the most similar name; None if no name is similar."""
    near = get_close_matches(word, names, n=1, cutoff=CLOSE)
    return f"did you mean {near[0]}?" if near else None


def read_stations(text: str, known: Answers) -> list[Group]:
    """Return groups of stations from ``4``, ``3 at 54, 1 at 6``, or ``3 near, 1 far, 1 old
    far``.
    """
    hop = known.hop
    parts = [part.strip() for part in text.split(",")]
    groups = [_by_ratio(part) if hop in AGGREGATING else _by_rate(part, hop) for part in parts]
    if hop == "router" and len(groups) > 1:
        raise UserError(f'"{text}": expected one rate for all hosts of a router, such as 10 at 100')
    if sum(group.count for group in groups) > MAX_STATIONS:
        raise UserError(f'"{text}": expected at most {MAX_STATIONS} stations in total')
    return groups


def _by_rate(part: str, hop: str) -> Group:
    """Return the group in text such as ``3 at 54``: a number of stations or hosts, and their
    rate.
    """
    match = re.fullmatch(rf"(\d{{1,4}})(?: (?:at|x|@) ({NUMBER}) ?(?:Mbps)?)?", part)
    if match is None or not 1 <= int(match[1]) <= MAX_STATIONS:
        raise UserError(
            f'"{part}": expected a number from 1 to {MAX_STATIONS}, such as 4, or '
            "several with their rates in Mb/s, such as 3 at 54, 1 at 6",
            DISTANCE_HOP if DISTANCE.search(part) else None,
        )
    rates = RATES_MBPS.get(hop)
    rate = float(match[2]) if match[2] else (max(rates) if rates else 100.0)
    if rates and rate not in rates:
        raise UserError(f'"{part}": rates of {hop} are {", ".join(f"{r:g}" for r in rates)} Mb/s')
    if not 0 < rate <= MAX_MBPS:
        raise UserError(f'"{part}": a rate is above 0 and up to {MAX_MBPS:g} Mb/s')
    return Group(int(match[1]), rate)


def _by_ratio(part: str) -> Group:
    """Return a group of stations with a signal-to-noise ratio, which determines the MCS.

    Examples of the text are ``3 near``, ``1 at 12 dB`` and ``1 old far``."""
    match = re.fullmatch(
        rf"(\d{{1,4}})( old| {re.escape(OLD_PHY)})?(?: (near|far)| (?:at|x|@) ({NUMBER}) ?dB)?",
        part,
        re.IGNORECASE,
    )
    count, old, place, decibels = match.groups() if match else ("0", None, None, None)
    if not 1 <= int(count) <= MAX_STATIONS:
        raise UserError(
            f'"{part}": expected a number from 1 to {MAX_STATIONS}, such as 4, or several by '
            "their distance, such as 3 near, 1 far, or 3 at 35 dB, 1 at 12 dB",
            f"1 old far is a distant {OLD_PHY} device; dB is the ratio of signal to noise",
        )
    is_far = (place or "").lower() == "far"
    ratio = FAR_DB if is_far else float(decibels or NEAR_DB)
    if not MIN_DB <= ratio <= MAX_DB:
        raise UserError(f'"{part}": a ratio is from {MIN_DB:g} to {MAX_DB:g} dB')
    return Group(int(count), None, ratio, bool(old))


def read_traffic(text: str, known: Answers) -> list[Traffic]:
    """Return the traffic of each station, from text such as ``1 x 6 up, rest x 1 down``. In this
    example the first station has six uploads.
    """
    count = known.count
    up, down, call = ([0] * count for _ in range(3))
    kinds = {"up": up, "down": down, "call": call}
    taken = 0
    for part in text.split(","):
        match = re.fullmatch(
            r"(?:(\d{1,4}|rest|all)(?: ?x ?| ))?(\d{1,4}) (up|down|call)s?", part.strip().lower()
        )
        most = MAX_CALLS if match and match[3] == "call" else MAX_CONNECTIONS
        if match is None or not 1 <= int(match[2]) <= most:
            raise UserError(
                f'"{part.strip()}": expected stations x connections up or down, such as '
                "1 x 6 up, rest x 1 down, or all x 1 down; or stations x calls, such as 1 x 1 call"
            )
        who, number, kind = match[1] or "all", int(match[2]), match[3]
        first, last = taken, count
        if who == "all":
            first = 0
        elif who != "rest":
            last = taken + int(who)
            if last > count:
                raise UserError(
                    f'"{part.strip()}": there are {count} stations, and {taken} of '
                    f"them already have connections"
                )
            taken = last
        else:
            taken = count
        for index in range(first, last):
            kinds[kind][index] += number
    if known.is_router and any(call):
        raise UserError(
            f'"{text}": expected connections only: a router of `init` has no calls',
            "use another hop, such as --hop wifi, for a call",
        )
    if known.is_router and any(up) and any(down):
        raise UserError(
            f'"{text}": at a router all connections have the same direction; expected all x 2 down'
        )
    made = [Traffic(*own) for own in zip(up, down, call, strict=True)]
    if all(each.is_empty for each in made):
        raise UserError(f'"{text}": no station sends anything')
    return made


def read_wire(text: str, known: Answers) -> Wire:
    """Return the line from ``50 Mbps, 20 ms``, ``100/20 Mbps, 20 ms``, or ``none``."""
    router = known.is_router
    if text.lower() == "none" and not router:
        return Wire(None, 0.0)
    match = WIRE.fullmatch(text.strip())
    if not text.strip() or match is None or (router and not match["down"] and not match["rate"]):
        either = "" if router else '; "100/20 Mbps, 20 ms" for a line of 20 Mb/s up; or none'
        raise UserError(f'"{text}": expected rate and round trip, such as 50 Mbps, 20 ms{either}')
    down = _rate_mbps(match, "down", "up_unit") or _rate_mbps(match, "rate")
    up = _rate_mbps(match, "up")
    rtt = float(match["rtt"] or 0.0)
    rates = [rate for rate in (down, up) if rate is not None]
    if not all(MIN_MBPS <= rate <= MAX_MBPS for rate in rates) or rtt > MAX_RTT_MS:
        raise UserError(
            f'"{text}": expected rates from 1 bps to {MAX_MBPS / 1e3:g} Gbps '
            f"({MAX_MBPS:g} Mbps), round trips up to {MAX_RTT_MS:g} ms"
        )
    if router and up not in (None, down):
        raise UserError(
            f'"{text}": expected one rate for the link of a router, such as 50 Mbps, 20 ms',
            "use another hop, such as --hop wifi, for a line with two rates",
        )
    return Wire(down, rtt, None if up == down else up)


def _rate_mbps(result: re.Match[str], name: str, unit: str = "") -> float | None:
    """Return a rate from the match of `WIRE`; None if absent. If the rate has no unit, the unit is
    that of the group `unit` of `WIRE`. [Mb/s]
    """
    if result[name] is None:
        return None
    own = result[f"{name}_unit"]
    prefix = result[unit] if own is None else own
    return float(result[name]) * PREFIXES_MBPS[prefix.lower()]


def read_queue(text: str, known: Answers) -> str:
    """Return the queue: a number of packets, a discipline, or a kind of access point."""
    word = text.strip().lower()
    named = disciplines(known.hop)
    kinds = tuple(KINDS) if known.aggregates else ()
    if word in (*named, *kinds) or (re.fullmatch(r"\d{1,7}", word) and 1 <= int(word) <= MAX_QUEUE):
        return word
    if word in (*KINDS, *disciplines(HOP_ALIASES["wifi"])):
        raise UserError(
            f'"{text}": is of {", ".join(AGGREGATING)}, and the hop is {known.hop}',
            OTHER_HOP,
        )
    of_kinds = f", or a kind of access point: {', '.join(kinds)}" if kinds else ""
    raise UserError(
        f'"{text}": expected packets from 1 to {MAX_QUEUE}, or {", ".join(named)}{of_kinds}',
        _meant(word, (*named, *KINDS)),
    )


def default_answer(key: str, known: Answers) -> str | None:
    """Return the aim's default answer to a question; None if the aim has none."""
    if key == "stations" and not known.aggregates:
        return None
    return AIMS[known.aim].defaults.get(key)


def default_traffic(known: Answers) -> str:
    """Return the default answer to the question about connections and calls in a cell."""
    text = default_answer("traffic", known) or "1 x 1 up, rest x 1 down"
    if known.count > 1 or known.aim == MODELS:
        return text
    return "1 call, 1 up" if "call" in text else "1 down"


DEFAULT_STATIONS = {
    "802.11b": "4 at 11, 1 at 2",
    "802.11g": "4 at 54, 1 at 6",
    **dict.fromkeys(AGGREGATING, "4 near, 1 far"),
}
"""Default answers to the question about stations, by kind of cell."""


NEW_LINE = "\n    "
"""Line break and indent within the text of a question."""

KINDS_IN_WORDS = ", ".join(KINDS).replace("isp", "isp (a provider's router)")
"""Kinds of access points as text, for the question about the queue."""

CHOICES = "".join(f"{NEW_LINE}{name:8}{aim.choice}" for name, aim in AIMS.items())
"""Names and questions of all aims as text, one aim per line."""


QUESTIONS = (
    Question(
        "aim", lambda _: f"What do you want to know?{CHOICES}", lambda _: DEFAULT_AIM, read_aim
    ),
    Question(
        "hop",
        lambda known: (
            f"What is the last hop?{NEW_LINE}Wi-Fi of today: 802.11ax (Wi-Fi 6), 802.11ac (5), "
            f"802.11n (4){NEW_LINE}Wi-Fi of the papers: 802.11g, 802.11b{NEW_LINE}"
            "router: a wired router"
            if known.aim == MODELS
            else "Which Wi-Fi is it: 802.11ax (Wi-Fi 6), 802.11ac (5), 802.11n (4), 802.11g (3) or "
            "802.11b (1)?"
        ),
        lambda known: DEFAULT_HOP if known.aim == MODELS else HOP_ALIASES["wifi"],
        read_hop,
    ),
    Question(
        "stations",
        lambda known: (
            "How many hosts send through it, and at which rate is each attached? [Mb/s]"
            if known.is_router
            else (
                f"How many devices are there, and how distant: near, far, or a ratio of signal to "
                f"noise?{NEW_LINE}1 old far is a distant {OLD_PHY} device; "
                "1 at 12 dB gives the ratio"
                if known.aggregates
                else "How many stations, and at which rates? [Mb/s]"
            )
        ),
        lambda known: (
            "10 at 100"
            if known.is_router
            else default_answer("stations", known) or DEFAULT_STATIONS[known.hop]
        ),
        read_stations,
    ),
    Question(
        "traffic",
        lambda known: (
            "How many connections has each?"
            if known.is_router
            else "Who uploads and downloads, over how many connections, and who has a call?"
        ),
        lambda known: "all x 2 down" if known.is_router else default_traffic(known),
        read_traffic,
    ),
    Question(
        "wire",
        lambda known: (
            "What are the rate and round-trip time of its link?"
            if known.is_router
            else "What are the rate and round-trip time from the access point to the servers?"
            if known.aim == MODELS
            else "What are the rates of the Internet line, down/up, and the round-trip time?"
        ),
        lambda known: (
            "50 Mbps, 40 ms"
            if known.is_router
            else default_answer("wire", known)
            or ("1000 Mbps, 20 ms" if known.aggregates else "100 Mbps, 20 ms")
        ),
        read_wire,
    ),
    Question(
        "queue",
        lambda known: (
            f"How does the {'router' if known.is_router else 'access point'} queue packets?"
            f"{NEW_LINE}a number of packets, or {', '.join(disciplines(known.hop))}"
            + (f"{NEW_LINE}or a kind of access point: {KINDS_IN_WORDS}" if known.aggregates else "")
        ),
        lambda known: "1000" if known.aggregates else "100",
        read_queue,
    ),
)
"""Questions in the order in which they are asked. A question may depend on earlier answers."""
