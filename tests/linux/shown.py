"""Kernel state of a gateway, as `ip` and `tc` show it.

The functions start few processes: in user-mode Linux each process costs 20 ms of CPU time.
"""

import re
import subprocess
from collections.abc import Iterable
from itertools import groupby

from lab import sh

SHOWN = (
    "class show dev lh-lan",
    "filter show dev lh-lan",
    "filter show dev lh-lan parent 6c68:1",
    "filter show dev lan egress",
    "filter show dev lan ingress",
    "qdisc show",
)
NUMBER = re.compile(r" *\d*:")
"""Pattern for the number at the start of an interface's line, such as `12:`."""

FLOW = re.compile("class (fq_codel|sfq|cake) ")
"""Pattern for the start of a flow's line. The line exists while packets of the flow wait in a
leaf.
"""


def state() -> str:
    """Return the state of the kernel, without the numbers that it chooses itself."""
    link = batch("ip -d", ["link show lh-lan"]).splitlines()
    shown = batch("tc -d", SHOWN)
    shown = re.sub(r"(pfifo|codel|sfq|cake) \w+:", r"\1 LEAF:", shown)
    shown = re.sub(r"leaf \w+:", "leaf LEAF:", shown)
    shown = re.sub(r"direct_packets_stat \d+", "", shown)
    shown = re.sub(r"\tindex \d+ ref 1 bind 1.*", "", shown)
    lines = [line for line in link if not NUMBER.match(line)] + shown.splitlines()
    return "\n".join(sorted(line for line in lines if line.strip() and not FLOW.match(line)))


def batch(program: str, lines: Iterable[str]) -> str:
    """Run lines of `ip` or `tc` in a single process; return its standard output."""
    text = "".join(f"{line}\n" for line in lines)
    words = [*program.split(), "-batch", "-"]
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{text}{done.stderr}"
    return done.stdout


def in_shell(commands: Iterable[str]) -> None:
    """Run the commands of a plan in a shell, except `ethtool`, since veth does not merge
    segments.
    """
    sh("\n".join(command for command in commands if not command.startswith("ethtool")))


def in_batches(commands: Iterable[str]) -> None:
    """Run the commands of a plan by `ip -batch` and `tc -batch`, except `ethtool`."""
    words = (command.partition(" ") for command in commands)
    for program, each in groupby(words, lambda word: word[0]):
        if program not in ("#", "ethtool"):
            batch(program, [rest for _, _, rest in each])
