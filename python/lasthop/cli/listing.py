"""Names and one-line descriptions of all commands. No command is imported."""

from typing import NamedTuple

from lasthop.answers.kinds import KINDS

__all__ = ["COMMANDS", "GROUPS", "Group", "command_given"]

COMMANDS = {
    "init": "Write a first scenario from a few answers.",
    "schema": "Print the JSON Schema of scenario files.",
    "check": "Check a scenario and print a summary.",
    **{kind.command: kind.line for kind in KINDS},
    "plot": "Draw a saved result again.",
    "reproduce": "Check the claims of the papers.",
    "workbench": "Run the workbench in a browser.",
    "doctor": "Report which commands run on this machine.",
    "completion": "Print a script for completion at Tab.",
}
"""Commands that are in no group, with one-line descriptions."""


class Group(NamedTuple):
    """Group of commands with a common first word, such as ``lasthop gateway``."""

    line: str
    """One-line description in the list of commands."""
    text: str
    """First paragraph of the group's help."""


GROUPS = {
    "import": Group(
        "Make a scenario from a capture, dump or settings.",
        "Make a scenario from a capture, a station dump or the settings of an access point.",
    ),
    "stability": Group(
        "Find out by theory whether a queue oscillates.",
        "Find out whether a queue oscillates, by fluid models of TCP over RED and small buffers.",
    ),
    "gateway": Group(
        "Enforce fairness on a Linux gateway.",
        "Enforce fairness between stations on a Linux machine in front of the access points.",
    ),
    "queue": Group(
        "Shape an interface, with threshold, VBS or others.",
        "Shape a network interface of Linux, with the queue of a scenario's link.",
    ),
    "congestion": Group(
        "Load Compound or Illinois into Linux.",
        "Load congestion controls of the simulator into Linux, as BPF programs.",
    ),
    "kernel": Group(
        "Build the Linux that `emulate --virtual` runs.",
        "Build, list and remove kernels of user-mode Linux for emulations in simulated time.",
    ),
    "relay": Group(
        "Carry streams over several TCP connections.",
        "Carry the streams of any program over several TCP connections; a rule sets their number.",
    ),
}
"""Groups of commands by name."""


def command_given(args: list[str]) -> list[str]:
    """Return the command in the arguments: group and command for a group, else the command."""
    words = [arg for arg in args if not arg.startswith("-")]
    if words and words[0] in GROUPS:
        return words[:2]
    return [word for word in words if word in COMMANDS][:1]
