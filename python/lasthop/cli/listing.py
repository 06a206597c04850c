"""Every command with its line in the list of commands, without importing any command."""

from typing import NamedTuple

__all__ = ["COMMANDS", "GROUPS", "Group", "command_given"]

COMMANDS = {
    "init": "Write a first scenario: five questions.",
    "schema": "Print the JSON Schema of scenario files.",
    "check": "Check a scenario, say what is in it.",
    "predict": "Predict a scenario by a model.",
    "simulate": "Simulate a scenario packet by packet.",
    "compare": "Predict and simulate: a table, a picture.",
    "emulate": "Run a scenario in real time with real TCP.",
    "sweep": "Simulate a scenario at many settings.",
    "tune": "Find the access parameters that serve an aim best.",
    "reproduce": "Repeat the papers, judge their claims.",
    "workbench": "Serve a page: the engine in a browser.",
    "completion": "Print a script: completion at Tab.",
}
"""Lines of single commands by name."""


class Group(NamedTuple):
    """Commands under a common name."""

    line: str
    """Line in the list of commands."""
    text: str
    """First paragraph of the help of the group."""


GROUPS = {
    "import": Group(
        "A scenario from a capture, a dump, settings.",
        "Make a scenario of what is there: a capture, a station dump, an access point's settings.",
    ),
    "stability": Group(
        "Will this queue oscillate? By theory.",
        "Will this queue oscillate? Fluid models of TCP over RED and small buffers.",
    ),
    "gateway": Group(
        "Enforce fairness on a Linux gateway.",
        "Enforce fairness between stations on a Linux machine in front of the access points.",
    ),
    "queue": Group(
        "A shaped queue of an interface: threshold, VBS, ...",
        "Shape a network interface of Linux, with the queue of a scenario's link in front.",
    ),
    "congestion": Group(
        "Compound and Illinois for Linux's own TCP.",
        "TCP congestion controls for Linux: the laws of the simulator as BPF programs.",
    ),
    "relay": Group(
        "One user's many connections, for any program.",
        "Cut the streams of any program over as many TCP connections as the rule asks for.",
    ),
}
"""Groups of commands by name."""


def command_given(args: list[str]) -> list[str]:
    """Return the name of the command among the arguments; in a group, both names."""
    words = [arg for arg in args if not arg.startswith("-")]
    if words and words[0] in GROUPS:
        return words[:2]
    return [word for word in words if word in COMMANDS][:1]
