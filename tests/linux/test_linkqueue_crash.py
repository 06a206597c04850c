"""`lasthop queue` is killed at any step, and other programs remove parts of the queue."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

import linkqueue_lab
from commands import lasthop
from lab import (
    GATEWAY,
    Child,
    entered,
    leftovers,
    seeded_random,
    sh,
    station_v4,
    take_back,
    wait_until,
)
from lasthop.daemon.service_kind import ServiceContext
from lasthop.daemon.state import State
from lasthop.enforce.queue import config
from lasthop.enforce.queue.service import QueueService
from lasthop.enforce.queue.shaped import Shaped
from lasthop.linux import links, offload
from lasthop.linux.netlink import Socket
from lasthop.linux.undo import UndoLog
from linkqueue_lab import SHARED, TEXTS, others, status, written
from test_crash import IS_UP, Countdown, Hook, kill_myself
from traffic import transfers

lab, programs, directory = linkqueue_lab.lab, linkqueue_lab.programs, linkqueue_lab.directory
STEPS_DRAWN = 4
"""Number of steps that `make test` draws for each kind of queue. [-]"""
HARM = (
    "tc class change dev wan parent 6c68: classid 6c68:1 htb rate 1mbit",
    "tc qdisc replace dev wan parent 6c68:1 pfifo limit 7",
    "tc qdisc del dev wan parent 6c68:1",
    "tc filter del dev wan parent 6c68:",
    "tc qdisc del dev wan root",
    "ip link set wan gso_max_segs 9",
)
STOP = "tc qdisc del dev wan parent 6c67:1"
"""Damage that stops all traffic until it is repaired: a splitter without a queue drops every
packet. Tests that kill a queue at a random instant do not use this damage, because the queue may be
killed before the repair.
"""


def a_life(directory: Path, kind: str, hook: Hook, harms: Sequence[str] = (STOP, *HARM)) -> None:
    """Make all changes that a queue makes in the kernel, and repair all kinds of damage. Call a
    hook after each step.
    """
    wanted = config.read(TEXTS[kind])
    shaped = Shaped(wanted, UndoLog(directory / "undo.log", hook), hook)
    shaped.up()
    shaped.apply(config.read(TEXTS[kind].replace("50 Mbps", "30 Mbps")))
    for harm in harms:
        if kind != "threshold" or "filter" not in harm:
            sh(harm)
        offload.set_merging("lan", True)
        for _ in range(2):
            shaped.repair(shaped.differences(set(shaped.parts)))
        assert shaped.differences(set(shaped.parts)) == [], harm
        assert not offload.merges("lan")
    shaped.down()
    shaped.close()


def killed_after(directory: Path, kind: str, steps_of: Callable[[int], Iterable[int]]) -> None:
    """Run a queue several times, and kill each run after another step. `steps_of` gets the total
    number of steps, and returns the steps after which a run is killed.
    """

    def count() -> int:
        counter = Countdown(-1, lambda: None)
        a_life(directory, kind, counter)
        return counter.steps

    before = others(directory)
    steps = int(Child(GATEWAY, count).result())
    assert steps > 20
    assert others(directory) == before
    for last in steps_of(steps):
        killed = Child(GATEWAY, lambda: a_life(directory, kind, Countdown(last, kill_myself)))  # noqa: B023
        assert killed.result() is None, f"step {last} of {steps} was not the end"
        assert transfers(station_v4(0)), "traffic is stuck"
        with entered(GATEWAY):
            assert take_back(directory) == []
            assert leftovers() == []
        assert others(directory) == before, f"{kind}: step {last}"


def test_killed_after_some_records_and_messages(directory: Path, programs: None) -> None:
    """Kill runs after a few steps that are drawn at random from SEED. `make test-long` tests every
    step.
    """
    draws = seeded_random("steps after which a queue is killed")

    def some(steps: int) -> list[int]:
        chosen = draws.sample(range(1, steps + 1), STEPS_DRAWN)
        print(f"steps {chosen} of {steps}")
        return chosen

    for kind in TEXTS:
        killed_after(directory, kind, some)


@pytest.mark.slow
@pytest.mark.parametrize("kind", TEXTS)
def test_killed_after_any_record_or_message(directory: Path, kind: str, programs: None) -> None:
    """Changes by other programs during the run are repaired."""
    killed_after(directory, kind, lambda steps: range(1, steps + 1))


def run_service(directory: Path, kind: str) -> None:
    """Run a queue that detects and repairs changes by other programs, until it is killed."""
    wanted = config.read(TEXTS[kind])
    state = State(directory)
    is_up = (directory / IS_UP).touch
    service = QueueService(ServiceContext(wanted, state, lambda: wanted, lambda _: None, is_up))
    service.up()
    service.run()


@pytest.mark.slow
def test_killed_at_random_under_traffic(directory: Path, programs: None) -> None:
    """Kill two hundred times at random instants, under traffic (LASTHOP_RANDOM_KILLS sets another
    number).

    Half of the killed processes only send messages to the kernel. The other half are services whose
    queue is changed by other programs.
    """
    draw, before = seeded_random("kills of a queue"), others(directory)
    for number in range(int(os.environ.get("LASTHOP_RANDOM_KILLS", "200"))):
        kind = draw.choice(list(TEXTS))
        if is_service := draw.random() < 0.5:
            child = Child(GATEWAY, lambda: run_service(directory, kind))  # noqa: B023
        else:
            child = Child(GATEWAY, lambda: a_life(directory, kind, lambda: None, HARM))  # noqa: B023
        end = time.monotonic() + draw.uniform(0, 0.25 if is_service else 0.06)
        while time.monotonic() < end:
            assert transfers(station_v4(0), count=100_000)
            if (directory / IS_UP).exists():
                # the command may fail while the gateway repairs the queue
                with entered(GATEWAY), suppress(AssertionError):
                    sh(draw.choice(HARM))
        child.kill()
        child.result()
        (directory / IS_UP).unlink(missing_ok=True)
        assert transfers(station_v4(0)), f"traffic is stuck after kill {number}"
        with entered(GATEWAY):
            assert take_back(directory) == []
            assert leftovers() == []
            sh(
                "ip link set wan gso_max_segs 65535"
            )  # other programs changed this setting, so that it is not restored
        assert others(directory) == before, f"kill {number}"


def test_parts_that_others_remove_come_back(directory: Path, programs: None) -> None:
    file = written(directory, SHARED)
    assert lasthop("queue", "up", file)[0] == 0
    try:
        with entered(GATEWAY):
            for harm in (STOP, *HARM[:-1]):  # the last change in `HARM` causes no event
                sh(harm)
                wait_until(lambda: is_complete(), f"mending after {harm}")
            sh("tc qdisc replace dev wan root handle 9: pfifo")
        fault = "the queue of wan is gone: there is a pfifo 9:"
        wait_until(lambda: fault in status(file)["faults"], "the fault to be reported")
        with entered(GATEWAY):
            sh("tc qdisc del dev wan root")
            wait_until(lambda: is_complete(), "the queue to be back")
        wait_until(lambda: status(file)["faults"] == [], "the fault to be over")
    finally:
        assert lasthop("queue", "down", file) == (0, "down\n")


def is_complete() -> bool:
    """Return whether the kernel has the settings of the file, as `tc` shows them."""
    with Socket() as kernel:
        segments = links.every_link(kernel)["wan"].segments
    return (
        "limit 200p" in sh("tc qdisc show dev wan")
        and "rate 50Mbit" in sh("tc class show dev wan")
        and "lasthop_sharing" in sh("tc filter show dev wan parent 6c68:")
        and segments == 1
    )
