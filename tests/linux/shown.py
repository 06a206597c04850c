"""What the kernel has of a gateway, as `ip` and `tc` show it.

Processes are few here: in user-mode Linux each takes 20 ms of a processor.
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
"""How the line of an interface begins that has its number."""


def state() -> str:
    """Return what the kernel shows, without the numbers that it gives by itself."""
    link = batch("ip -d", ["link show lh-lan"]).splitlines()
    shown = batch("tc -d", SHOWN)
    shown = re.sub(r"(pfifo|codel|sfq) \w+:", r"\1 LEAF:", shown)
    shown = re.sub(r"leaf \w+:", "leaf LEAF:", shown)
    shown = re.sub(r"direct_packets_stat \d+", "", shown)
    shown = re.sub(r"\tindex \d+ ref 1 bind 1.*", "", shown)
    lines = [line for line in link if not NUMBER.match(line)] + shown.splitlines()
    return "\n".join(sorted(line for line in lines if line.strip()))


def batch(program: str, lines: Iterable[str]) -> str:
    """Run lines of `ip` or `tc` in one process; return what it prints."""
    text = "".join(f"{line}\n" for line in lines)
    words = [*program.split(), "-batch", "-"]
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{text}{done.stderr}"
    return done.stdout


def by_hand(commands: Iterable[str]) -> None:
    """Run commands that a plan prints, but for those about merging, which veth does not do."""
    sh("\n".join(command for command in commands if not command.startswith("ethtool")))


def in_batches(commands: Iterable[str]) -> None:
    """Run the same commands with `ip -batch` and `tc -batch`, without a shell."""
    words = (command.partition(" ") for command in commands)
    for program, each in groupby(words, lambda word: word[0]):
        if program not in ("#", "ethtool"):
            batch(program, [rest for _, _, rest in each])
