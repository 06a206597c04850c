"""Check every queue of `lasthop queue` in a kernel that supports the queue, and print the faults of
each queue.
"""

import json
import re
import tempfile
from itertools import zip_longest
from pathlib import Path

from lab import leftovers, log_in
from lasthop.enforce.queue import config
from lasthop.enforce.queue.shaped import Shaped, plan
from shown import batch, in_batches

QUEUES = {
    "drop_tail": "100",
    "threshold": "{ threshold = 15 }",
    "codel": "{ limit = 60, codel = { target = '7 ms', ecn = true } }",
    "fq_codel": "{ limit = 60, fq_codel = { interval = '30 ms' } }",
    "pie": "{ limit = 60, pie = { target = '20 ms' } }",
    "red": "{ limit = 100, red = { min_th = 50, max_th = 90, max_p = 0.1, weight = 0.002 } }",
    "cake": "{ cake = { overhead = '40 B', link_layer = 'atm', bandwidth = '9 Mbps' } }",
}


def main() -> dict[str, list[str]]:
    """Set each queue up, check that the kernel has the requested settings, change it, and undo
    it.
    """
    link = "ip link add wan type veth peer name wan1"
    in_batches([link, "ip link set wan up", "ip link set wan1 up"])
    directory = Path(tempfile.mkdtemp())
    wrong = {name: wrong_with(queue, directory) for name, queue in QUEUES.items()}
    return wrong | {"leftovers": leftovers()}


def wrong_with(queue: str, directory: Path) -> list[str]:
    """Return the faults of a queue."""
    wanted = config.read(f'[interface]\nname = "wan"\nrate = "10 Mbps"\nqueue = {queue}\n')
    with Shaped(wanted, log_in(directory)) as shaped:
        shaped.up()
        by_us = state()
        wrong = [each.message for each in shaped.differences(set(shaped.parts))]
        wrong += shaped.down()
    in_batches(plan(wanted))
    by_tc = state("qdisc del dev wan root")
    pairs = zip_longest(sorted(by_us.splitlines()), sorted(by_tc.splitlines()))
    return wrong + [f"{ours} | {theirs}" for ours, theirs in pairs if ours != theirs]


def state(*after: str) -> str:
    """Return the state of the kernel as `tc` shows it, without arbitrary handles and counters.

    `after` contains further commands for `tc`, whose output is also returned.

    FQ-CoDel shows a class for each flow with a queued packet, and the kernel itself sends some IPv6
    packets. Therefore only classes of the shaper are returned.
    """
    shown = batch("tc", ["qdisc show dev wan", "class show dev wan", *after])
    shown = "".join(
        line for line in shown.splitlines(keepends=True) if not line.startswith("class fq_codel")
    )
    return re.sub(r"\b8[0-9a-f]{3}:|direct_packets_stat \d+|refcnt \d+", "", shown)


if __name__ == "__main__":
    print(json.dumps(main()))
