"""Set up CAKE as `lasthop queue` does, in a kernel with `sch_cake`, and print for each case what
`tc -j -s` reports, the lengths on the line, and the faults.
"""

import ctypes
import json
import os
import socket
import tempfile
from pathlib import Path
from typing import Any

from cake_cases import CASES, LENGTHS, Case
from lab import leftovers, log_in
from lasthop.enforce.queue import config
from lasthop.enforce.queue.shaped import Shaped, plan
from lasthop.errors import UserError
from shown import batch, in_batches

MODPROBE = Path("/proc/sys/kernel/modprobe")
DELETE_MODULE = 176
"""Number of the system call on x86-64."""
HEADERS = 28
"""Length of the headers of IPv4 and UDP. [bytes]"""


def main() -> dict[str, Any]:
    """Return the answers for all cases, and what is left at the end."""
    in_batches(
        [
            "ip link add wan type veth peer name wan1",
            "ip link set wan up",
            "ip link set wan1 up",
            "ip address add 192.0.2.1/24 dev wan",
            "ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev wan",
        ]
    )
    before = leftovers_of_cake()
    directory = Path(tempfile.mkdtemp())
    answers = {name: answer(case, directory) for name, case in CASES.items()}
    changes = change(CASES["adsl"], directory)
    refused = without_module(directory)
    after = leftovers_of_cake()
    return {
        "refused": refused,
        "cases": answers,
        "changes": changes,
        "before": before,
        "after": after,
        "leftovers": leftovers(),
    }


def without_module(directory: Path) -> str | None:
    """Remove the module `sch_cake`. Return the refusal, or None if CAKE is built in."""
    if MODPROBE.exists():
        MODPROBE.write_text("/bin/false")
    ctypes.CDLL(None).syscall(DELETE_MODULE, b"sch_cake", os.O_NONBLOCK)
    wanted = config.read('[interface]\nname = "wan"\nqueue.cake = "18 Mbps"\n')
    try:
        with Shaped(wanted, log_in(directory)) as shaped:
            shaped.up()
            shaped.down()
    except UserError as error:
        return str(error)
    return None


def answer(case: Case, directory: Path) -> dict[str, Any]:
    """Set up one case, send packets through it, change it, and remove it."""
    wanted = config.read(f'[interface]\nname = "wan"\n{case.text}\n')
    with Shaped(wanted, log_in(directory)) as shaped:
        shaped.up()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for length in LENGTHS:
                sender.sendto(bytes(length - HEADERS), ("192.0.2.2", 9))
        by_us, words = shown(), words_of_tc()
        tins = [tin._asdict() for tin in shaped.tins()]
        faults = [each.message for each in shaped.differences(set(shaped.parts))]
        faults += shaped.down()
    in_batches(plan(wanted))
    by_tc = shown()
    batch("tc", ["qdisc del dev wan root"])
    return {
        "by_us": by_us,
        "by_tc": by_tc,
        "words": words,
        "tins": tins,
        "faults": faults,
    }


def change(case: Case, directory: Path) -> dict[str, Any]:
    """Apply other settings to a CAKE that is up. Then change CAKE as another program would, and
    repair it.
    """
    wanted = config.read(f'[interface]\nname = "wan"\n{case.text}\n')
    with Shaped(wanted, log_in(directory)) as shaped:
        shaped.up()
        shaped.apply(config.read('[interface]\nname = "wan"\nqueue.cake = "9 Mbps"\n'))
        applied = shown()
        faults = [each.message for each in shaped.differences(set(shaped.parts))]
        in_batches(["tc qdisc change dev wan root handle 6c68: cake bandwidth 1mbit nat wash"])
        differences = shaped.differences(set(shaped.parts))
        shaped.repair(differences)
        repaired = shown()
        faults += shaped.down()
    return {
        "applied": applied,
        "noticed": [each.message for each in differences],
        "repaired": repaired,
        "faults": faults,
    }


def shown() -> dict[str, Any]:
    """Return what `tc -j -s` reports about the queue at the root."""
    [qdisc] = json.loads(batch("tc -j -s", ["qdisc show dev wan"]))
    return dict(qdisc)


def words_of_tc() -> str:
    """Return the line of `tc qdisc show` about the queue at the root."""
    return batch("tc", ["qdisc show dev wan"]).strip()


def leftovers_of_cake() -> str:
    """Return the queue and the segment limit of the interface."""
    return batch("tc", ["qdisc show dev wan"]) + batch("ip -d -o", ["link show wan"])


if __name__ == "__main__":
    print(json.dumps(main()))
