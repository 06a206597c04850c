"""Kill a gateway after each record in its log and each message to the kernel, and print the faults
found afterwards.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from lab import gateway_text, leftovers, log_in, sh, take_back
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.shaper import Shaper
from test_crash import LISTED, Countdown, a_life, kill_myself


def main(discipline: str, every: str) -> dict[str, object]:
    """Run the gateway many times, and kill it `every` steps later in each run. After each kill,
    undo its changes and set it up again.
    """
    sh("ip link add wan type veth peer name wan1; ip link add lan type veth peer name lan1")
    sh("for each in wan wan1 lan lan1; do ip link set $each up; done")
    directory = Path(tempfile.mkdtemp())
    counter = Countdown(-1, lambda: None)
    a_life(directory, counter, discipline=discipline)
    wrong: list[str] = []
    killed = 0
    steps = range(1, counter.steps + 1, int(every))
    for last in steps:
        killed += ended_by_a_kill(directory, last, discipline)
        wrong += [f"step {last}: {line}" for line in after_it(directory, discipline)]
    return {"steps": counter.steps, "tried": len(steps), "killed": killed, "wrong": wrong}


def ended_by_a_kill(directory: Path, last: int, discipline: str) -> bool:
    """Kill a run at step `last`. Return False if the run ended before this step."""
    child = os.fork()
    if child == 0:
        try:
            a_life(directory, Countdown(last, kill_myself), discipline=discipline)
        finally:
            os._exit(1)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def after_it(directory: Path, discipline: str) -> list[str]:
    """Return the faults after a kill: changes that were not undone, and faults when the gateway is
    set up again.
    """
    wrong = take_back(directory) + leftovers()
    gateway = config.read(gateway_text(LISTED, discipline=discipline))
    with Shaper(gateway, log_in(directory)) as shaper:
        shaper.up(gateway.stations)
        return wrong + shaper.faults() + shaper.down()


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
