"""Program that `uml_queues.py` runs in user-mode Linux. It uses `short_queues_inside.py`.

    uml_queues_inside.py emulated TASK
    uml_queues_inside.py datagrams TASK

`emulated` runs the TCP of this kernel through the engine's queue. Its TASK has the keys `point`,
`variant` and `seed`. `datagrams` sends datagrams through the kernel's queue. Its TASK has those
keys of `short_queues_inside.py alone` that describe the queue, and `payload_bytes`,
`packets_per_s`, `is_random`, `pause_s` (from, to; or null), `seed`, `looks_s`, `settled_s`. The
last line of the output contains the results as JSON.
"""

import json
import socket
import sys
import time
from contextlib import ExitStack
from random import Random
from statistics import fmean
from typing import Any

from kernel_tcp import Run, emulated
from kernel_tcp_points import Point, Variant
from short_queues_inside import NEAR, SAMPLED_S, SINK, joined_sink, set_up

from lasthop.enforce.queue.shaped import Shaped
from lasthop.linux.netns import Namespace

DISCARD = 9
"""UDP port where no process listens."""


def by_engine(task: dict[str, Any]) -> dict[str, Any]:
    """Run the TCP of this kernel through the engine's queue."""
    point = Point(**{**task["point"], "row": tuple(task["point"]["row"])})
    result = emulated(Run(point, Variant(**task["variant"]), task["seed"]), None)
    return {key: result[key] for key in ("figures", "late_s", "wait", "counters", "variant")}


def by_kernel(task: dict[str, Any]) -> dict[str, Any]:
    """Send datagrams through the kernel's queue."""
    with ExitStack() as stack:
        joined_sink(stack, task)
        senders, shaped = set_up(stack, task, NEAR)
        return sent(senders, shaped, task)


def sent(senders: Namespace, shaped: Shaped, task: dict[str, Any]) -> dict[str, Any]:
    """Send the datagrams. Return the number of drops until each of the times `looks_s`, the
    fraction lost after the warm-up, and the mean queue length."""
    out = senders.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    payload, draw, rate = bytes(task["payload_bytes"]), Random(task["seed"]), task["packets_per_s"]
    looks_s, drops, waiting = list(task["looks_s"]), [], []
    begins_s, ends_s = task["pause_s"] or (float("inf"), float("inf"))
    began_s = time.monotonic()
    next_s, sample_s, late_s = 0.0, 0.0, 0.0
    at_first: tuple[int, int] | None = None
    offered = 0
    while looks_s:
        due_s = min(next_s, sample_s, looks_s[0])
        now_s = time.monotonic() - began_s
        if due_s > now_s:
            time.sleep(due_s - now_s)
        else:
            late_s = max(late_s, now_s - due_s)
        if due_s == looks_s[0]:
            looks_s.pop(0)
            drops.append(shaped.counters()[1].dropped_packets)
        elif due_s == next_s:
            out.sendto(payload, (SINK, DISCARD))
            offered += 1
            next_s += draw.expovariate(rate) if task["is_random"] else 1 / rate
            if begins_s <= next_s < ends_s:
                next_s = ends_s
        else:
            sample_s += SAMPLED_S
            _, queue = shaped.counters()
            if due_s >= task["settled_s"]:
                at_first = at_first or (queue.dropped_packets, offered)
                waiting.append(queue.backlog_packets)
    assert at_first is not None
    return {
        "drops": drops,
        "lost": (drops[-1] - at_first[0]) / (offered - at_first[1]),
        # the packet in service is added, since the link is never idle
        "queue_packets": fmean(waiting) + 1,
        "late_s": late_s,
    }


def main() -> None:
    """Run the part that the command line names."""
    role, argument = sys.argv[1:]
    result = {"emulated": by_engine, "datagrams": by_kernel}[role](json.loads(argument))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
