"""Aims of a user, with default answers to the other questions and suitable commands."""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["AIMS", "DEFAULT_AIM", "MODELS", "Aim", "Command"]


@dataclass(frozen=True)
class Command:
    """A command that helps to answer the user's question.

    Attributes
    ----------
    arguments : str
        The command without ``lasthop``. ``FILE`` is replaced by the file, ``{rate}`` by nine tenths
        of the line's rate towards the access point, and ``{faster}`` by twice the line's rate.
        ``{without}`` is replaced by settings that stop the traffic of the slowest stations, and
        ``{voice}`` by settings that put calls into category voice.
    purpose : str
        The question that the command answers, as a noun phrase.
    rest : str
        Replacement of `purpose` if the case with ``{without}`` is omitted, because no settings can
        replace this placeholder.
    """

    arguments: str
    purpose: str
    rest: str = ""


@dataclass(frozen=True)
class Aim:
    """Aim of a user: a question about a network.

    Attributes
    ----------
    choice : str
        The question as a noun phrase, for the list of choices.
    title : str
        First words of the scenario's name.
    question : str
        The question as a sentence.
    defaults : mapping of str to str
        Default answers to the other questions of `lasthop init`, by key. The answer for
        ``stations`` applies only to cells whose frames have an MCS.
    commands : tuple of Command
        Commands that answer the question, with the best first.
    """

    choice: str
    title: str = ""
    question: str = ""
    defaults: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[Command, ...] = ()


EXPLAIN = Command(
    "explain FILE", "where packets wait, what limits each flow, and which changes help"
)

MODELS = "models"
"""Name of the aim to compare models with simulations. This aim supports any last hop."""

AIMS: Mapping[str, Aim] = {
    "call": Aim(
        "why a call stutters while somebody uploads",
        "a call at home",
        "Why does my call stutter while somebody uploads, and which change helps?",
        {
            "stations": "3 near",
            "traffic": "1 x 1 call, 1 x 1 up, rest x 1 down",
            "wire": "100/20 Mbps, 20 ms",
        },
        (
            EXPLAIN,
            Command(
                'what-if FILE --case "fair queue: wire.queue.fq_codel={}" '
                '--case "short queue: wire.queue=100"',
                "how much a queue at the line helps, such as SQM or `lasthop queue`",
            ),
            Command("tune FILE --for calls", "the best access parameters for calls"),
        ),
    ),
    "slow": Aim(
        "what one slow device costs the others",
        "a slow device at home",
        "How much does one slow device slow down the others, and which change helps?",
        {"stations": "3 near, 1 old far", "traffic": "all x 1 down", "wire": "500/50 Mbps, 20 ms"},
        (
            EXPLAIN,
            Command(
                'what-if FILE --case "without it: {without}" '
                '--case "equal air time: cell.ap_queue={ mac80211 = {} }"',
                "what the slow device costs, and how much equal air time helps",
                "how much equal air time helps",
            ),
        ),
    ),
    "guest": Aim(
        "how to keep one guest from taking everything",
        "a greedy guest",
        "One guest takes everything: how much, and which change helps?",
        {
            "stations": "4 near",
            "traffic": "1 x 8 down, rest x 1 down",
            "wire": "100/20 Mbps, 20 ms",
        },
        (
            Command("explain FILE --for fairness", EXPLAIN.purpose),
            Command(
                'what-if FILE --case "gateway: vsb.rate={rate}" '
                '--case "fair queue: wire.queue.fq_codel={}"',
                "whether a gateway with equal shares or a queue per flow helps",
            ),
        ),
    ),
    "line": Aim(
        "whether the Wi-Fi wastes the Internet line",
        "a fast line at home",
        "Does my Wi-Fi waste my Internet line?",
        {"stations": "2 near, 1 far", "traffic": "all x 2 down", "wire": "300/50 Mbps, 20 ms"},
        (
            EXPLAIN,
            Command(
                'what-if FILE --case "faster line: wire.rate={faster}" '
                '--case "equal air time: cell.ap_queue={ mac80211 = {} }"',
                "what a line of twice the rate, or equal air time, adds",
            ),
        ),
    ),
    "queue": Aim(
        "which queue is best for many users",
        "many users",
        "Which queue is best for many users of one access point?",
        {
            "stations": "40 near",
            "traffic": "1 x 1 call, rest x 1 down",
            "wire": "1000 Mbps, 20 ms",
        },
        (
            Command(
                "simulate FILE",
                "in the lines below the tables, where packets wait: wire/down is the queue of the "
                "line, and ap that of the access point",
            ),
            Command(
                'what-if FILE --case "AP fq_codel: cell.ap_queue={ fq_codel = {} }" '
                '--case "AP mac80211: cell.ap_queue={ mac80211 = {} }" '
                '--case "AP mac80211 and voice: cell.ap_queue={ mac80211 = {} }; {voice}" '
                '--case "router fq_codel: wire.queue.fq_codel={}"',
                "goodput, fairness and the call with another queue in the access point, or in the "
                "router at the line",
            ),
            EXPLAIN,
        ),
    ),
    MODELS: Aim("how a published model compares with the simulation"),
}
"""Aims by name; the first aim is the default."""

DEFAULT_AIM = next(iter(AIMS))
"""Name of the default aim."""
