"""Behaviour after a crash: in every case traffic flows, `down` removes the gateway's changes, `up`
works again.
"""

import ctypes
import errno
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import uml

from lab import (
    GATEWAY,
    Child,
    Lab,
    entered,
    gateway_text,
    leftovers,
    log_in,
    seeded_random,
    sh,
    station_v4,
    take_back,
)
from lasthop.daemon.service_kind import ServiceContext
from lasthop.daemon.state import State
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.config import KnownStation
from lasthop.enforce.gateway.service import GatewayService
from lasthop.enforce.gateway.shaper import Shaper
from lasthop.errors import UserError
from lasthop.linux import offload
from lasthop.linux.netlink import KernelError
from lasthop.linux.undo import UndoLog
from traffic import transfers

LISTED = 2
GUEST = KnownStation("guest", "wlan", (ip_address(station_v4(LISTED)),), group="unlisted")
Hook = Callable[[], None]
Make = Callable[..., Shaper]


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """Yield a hot-spot without a slow hop: these tests transfer little data, and run often."""
    with Lab(stations=3, rate_bps=None) as lab:
        yield lab


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    with entered(GATEWAY):
        take_back(tmp_path)
        assert leftovers() == []


@pytest.fixture
def shaping(directory: Path) -> Iterator[Make]:
    """Yield a function that makes shapers; the shapers are closed at the end."""
    with ExitStack() as stack:
        yield lambda gateway, hook=None: stack.enter_context(
            Shaper(gateway, log_in(directory), hook)
        )


def a_life(directory: Path, hook: Hook, more: str = "", discipline: str = "pfifo") -> None:
    """Make every change that a gateway makes in the kernel, and call a hook after each step."""
    gateway = config.read(gateway_text(LISTED, more, discipline=discipline))
    shaper = Shaper(gateway, UndoLog(directory / "undo.log", hook), hook)
    shaper.up(gateway.stations)
    shaper.set_rate("wlan", 4_000_000)
    shaper.join(GUEST)
    shaper.readdress("guest", [*GUEST.addresses, ip_address("fd77:1::c")])
    shaper.readdress("guest", GUEST.addresses)
    shaper.leave("guest")
    shaper.down()


HARM = (
    "tc class change dev lh-lan parent 6c68: classid 6c68:1 htb rate 100kbit",
    "tc qdisc del dev lh-lan root",
    "tc qdisc del dev lan clsact",
    "ip link del usb; ip link add usb type veth peer name usb2; ip link set usb up",
)


HARM_TO_SERVICES = (HARM[0].replace("100kbit", "3mbit"), *HARM[1:3])
"""Damage by other programs, for tests of services. The damaged rate is 3 Mbit/s: at 100 kbit/s, a
leaf would need 24 s to drain after a service is killed.
"""


def run_with_damage(directory: Path, hook: Hook) -> None:
    """Set a gateway up, and repair it after each kind of damage in `HARM`. Call a hook after each
    step of the repairs.
    """
    gateway = config.read(gateway_text(LISTED).replace('wan = "wan"', 'wan = "usb"'))
    shaper = Shaper(gateway, UndoLog(directory / "undo.log"))
    shaper.up(gateway.stations)
    shaper.changes.log.after_record = shaper.kernel.after_message = hook
    for harm in HARM:
        sh(harm)
        offload.set_merging("usb", True)
        shaper.repair(shaper.differences())
        assert shaper.faults() == []
        assert not offload.merges("usb")
    shaper.changes.log.after_record = shaper.kernel.after_message = None
    shaper.down()


IS_UP = "up"


class Countdown:
    """Counter of steps: each call of this object is a step, and step number `last` calls `end`."""

    def __init__(self, last: int, end: Hook) -> None:
        self.last = last
        self.end = end
        self.steps = 0

    def __call__(self) -> None:
        self.steps += 1
        if self.steps == self.last:
            self.end()


def run_service(directory: Path, more: str = "", discipline: str = "pfifo") -> None:
    """Run a service that detects and repairs changes by other programs, until it is killed.

    When the service is up, it creates a file. If another program changes an object before the
    service is up, the service ends with an error line.
    """
    gateway = config.read(gateway_text(LISTED, more, discipline=discipline))
    state, is_up = State(directory), (directory / IS_UP).touch
    service = GatewayService(ServiceContext(gateway, state, lambda: gateway, lambda _: None, is_up))
    service.up()
    service.run()


def steps_of_run(directory: Path, more: str = "", discipline: str = "pfifo") -> int:
    """Return the number of steps of a complete run: messages to the kernel, and records in the
    log.
    """

    def count() -> int:
        counter = Countdown(-1, lambda: None)
        a_life(directory, counter, more, discipline)
        return counter.steps

    return int(Child(GATEWAY, count).result())


def kill_myself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def check_after_a_kill(directory: Path) -> None:
    """Check the state after a kill: traffic flows, the gateway's changes can be removed, and the
    gateway can be set up again.
    """
    assert transfers(station_v4(0)), "traffic is stuck"
    assert transfers(station_v4(LISTED)), "a guest's traffic is stuck"
    with entered(GATEWAY):
        assert take_back(directory) == []
        assert leftovers() == []
        gateway = config.read(gateway_text(LISTED))
        shaper = Shaper(gateway, log_in(directory))
        shaper.up(gateway.stations)
        assert shaper.faults() == []
        assert shaper.down() == []
        shaper.close()


KINDS = {
    "station": ("", "pfifo"),
    "best": ("", "best"),
    "flow": ('fairness = "flow"\nflow_leaves = 3', "pfifo"),
    "direction": ('fairness = "direction"', "best"),
    "down": ('udp = "down"', "best"),
    "groups": (
        'group.one = { stations = "s0", share = 2 }\ngroup.unlisted.max = "3 Mbps"',
        "pfifo",
    ),
}
"""Gateways that send different messages to the kernel. The key is a name. The value contains lines
of the gateway file, and the queueing discipline of the leaves.

With the queue `best`, the gateway tries which disciplines the kernel supports. With `udp = "down"`,
UDP from stations bypasses the leaves. Messages for fq_codel and codel are tested in user-mode
Linux.
"""


KINDS_DRAWN, STEPS_DRAWN = 2, 3
"""Numbers of kinds, and of steps per kind, that `make test` draws. [-]"""


def killed_after(directory: Path, kind: str, steps_of: Callable[[int], Iterable[int]]) -> None:
    """Run a gateway several times, and kill each run after another step. `steps_of` gets the total
    number of steps, and returns the steps after which a run is killed.
    """
    more, discipline = KINDS[kind]
    steps = steps_of_run(directory, more, discipline)
    assert steps > 20
    for last in steps_of(steps):
        killed = Child(
            GATEWAY,
            lambda: a_life(directory, Countdown(last, kill_myself), more, discipline),  # noqa: B023
        )
        assert killed.result() is None, f"{kind}: step {last} of {steps} was not the end"
        check_after_a_kill(directory)


def test_killed_after_some_records_and_messages(lab: Lab, directory: Path) -> None:
    """Kill runs after a few steps that are drawn at random from SEED. `make test-long` tests every
    step.
    """
    draws = seeded_random("steps after which a gateway is killed")

    def some(steps: int) -> list[int]:
        chosen = draws.sample(range(1, steps + 1), STEPS_DRAWN)
        print(f"steps {chosen} of {steps}")
        return chosen

    for kind in draws.sample(list(KINDS), KINDS_DRAWN):
        killed_after(directory, kind, some)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_killed_after_any_record_or_message(lab: Lab, directory: Path, kind: str) -> None:
    killed_after(directory, kind, lambda steps: range(1, steps + 1))


@pytest.mark.slow
@pytest.mark.usefixtures("user_mode")
@pytest.mark.parametrize(("discipline", "every"), [("fq_codel", 1), ("codel", 1)])
def test_killed_with_leaves_that_keep_delay_low(discipline: str, every: int) -> None:
    """Kill the gateway after each step whose number is a multiple of `every`. The test runs in
    user-mode Linux, whose kernel supports these disciplines.
    """
    script = Path(__file__).parent / "inside" / "kills.py"
    seen: dict[str, Any] = uml.answer(script, discipline, str(every))
    assert seen["steps"] > 20
    assert seen["killed"] == seen["tried"] >= seen["steps"] / every
    assert seen["wrong"] == []


@pytest.mark.slow
def test_killed_while_healing(lab: Lab, directory: Path) -> None:
    """A gateway is killed during repairs, after each of its steps in turn. All its changes are then
    undone.
    """

    def count() -> int:
        counter = Countdown(-1, lambda: None)
        run_with_damage(directory, counter)
        return counter.steps

    with entered(GATEWAY):
        sh("ip link add usb type veth peer name usb2; ip link set usb up")
    try:
        steps = int(Child(GATEWAY, count).result())
        assert steps > 15
        for last in range(1, steps + 1):
            killed = Child(
                GATEWAY,
                lambda: run_with_damage(directory, Countdown(last, kill_myself)),  # noqa: B023
            )
            assert killed.result() is None, f"step {last} of {steps} was not the end"
            assert transfers(station_v4(0)), "traffic is stuck"
            with entered(GATEWAY):
                assert take_back(directory) == []
                assert leftovers() == []
                assert offload.merges("usb"), "receive offload is as it was"
    finally:
        with entered(GATEWAY):
            sh("ip link del usb")


@pytest.mark.slow
def test_killed_at_random_under_traffic(lab: Lab, directory: Path) -> None:
    """Kill five hundred times at random instants, during a download (LASTHOP_RANDOM_KILLS sets
    another number).

    Half of the killed processes only send messages to the kernel. The other half are services whose
    classes and ingress qdiscs are removed by other programs.
    """
    draw = seeded_random("kills of a gateway")
    kills = 0
    try:
        while kills < int(os.environ.get("LASTHOP_RANDOM_KILLS", "500")):
            more, discipline = KINDS[draw.choice(list(KINDS))]
            if is_service := draw.random() < 0.5:
                child = Child(GATEWAY, lambda: run_service(directory, more, discipline))  # noqa: B023
            else:
                child = Child(GATEWAY, lambda: a_life(directory, lambda: None, more, discipline))  # noqa: B023
            end = time.monotonic() + draw.uniform(0, 0.25 if is_service else 0.06)
            while time.monotonic() < end:
                assert transfers(station_v4(0), count=100_000)
                if (directory / IS_UP).exists():
                    harm(draw)
            child.kill()
            child.result()
            kills += 1
            if kills % 100 == 0:
                print(f"{kills} kills", file=sys.__stderr__, flush=True)
            (directory / IS_UP).unlink(missing_ok=True)
            check_after_a_kill(directory)
    finally:
        with entered(GATEWAY):
            offload.set_merging("wan", False)


def harm(draw: random.Random) -> None:
    """Remove or change a random object, if it exists."""
    with entered(GATEWAY), suppress(AssertionError):
        sh(draw.choice(HARM_TO_SERVICES))
        offload.set_merging("wan", True)


def test_refused_by_the_kernel_at_any_message(lab: Lab, directory: Path, shaping: Make) -> None:
    """If the kernel refuses any one message, the error is reported, and no object of the gateway
    remains.
    """

    def refuse() -> None:
        raise KernelError(errno.ENOMEM, "a change", "")

    def up(last: int) -> int:
        gateway = config.read(gateway_text(LISTED))
        counter = Countdown(last, refuse)
        shaper = shaping(gateway, counter)
        if last < 0:
            shaper.up(gateway.stations)
            steps = counter.steps
            shaper.down()
            return steps
        with pytest.raises(KernelError, match="a change: Cannot allocate memory"):
            shaper.up(gateway.stations)
        assert leftovers() == []
        assert not (directory / "undo.log").exists()
        return 0

    with entered(GATEWAY):
        steps = up(-1)
        assert steps > 15
        for last in range(1, steps + 1):
            up(last)
    assert transfers(station_v4(0))


def test_a_refused_guest_leaves_the_others_as_they_were(lab: Lab, shaping: Make) -> None:
    def refuse() -> None:
        raise KernelError(errno.ENOMEM, "a change", "")

    with entered(GATEWAY):
        gateway = config.read(gateway_text(LISTED))
        counter = Countdown(-1, refuse)
        shaper = shaping(gateway, counter)
        shaper.up(gateway.stations)
        before = sh("tc class show dev lh-lan | sort")
        for step in (1, 2):  # the kernel refuses the class of the guest, or its queue
            counter.last = counter.steps + step
            with pytest.raises(KernelError):
                shaper.join(GUEST)
            assert sh("tc class show dev lh-lan | sort") == before
        counter.last = -1
        shaper.join(GUEST)
        assert transfers(station_v4(LISTED))
        assert shaper.counters()[shaper.running().members["guest"].leaf].sent_packets > 0
        shaper.down()


def test_a_full_disk_stops_it_before_the_change(lab: Lab, tmp_path: Path) -> None:
    """Test a log on a file system without a free byte."""
    small = tmp_path / "small"
    small.mkdir()

    def up() -> tuple[str, list[str]]:
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.unshare(0x00020000) == 0  # CLONE_NEWNS: the mount ends with this process
        sh(f"mount --make-rprivate /; mount -t tmpfs -o size=16k none {small}")
        sh(f"head -c 100k /dev/zero > {small}/ballast || true")
        gateway = config.read(gateway_text(LISTED))
        shaper = Shaper(gateway, log_in(small))
        try:
            shaper.up(gateway.stations)
        except UserError as error:
            return str(error), leftovers()
        return "", leftovers()

    message, left = Child(GATEWAY, up).result()
    assert message == f"{small}/undo.log: No space left on device"
    assert left == []


def test_foreign_hooks_are_refused_and_stay(lab: Lab, shaping: Make) -> None:
    gateway = config.read(gateway_text(LISTED))
    for kind in ("ingress", "clsact"):
        with entered(GATEWAY):
            sh(f"tc qdisc add dev lan {kind}")
            try:
                shaper = shaping(gateway)
                with pytest.raises(UserError, match=f"lan: it has a queueing discipline {kind}"):
                    shaper.up(gateway.stations)
                assert len(leftovers()) == (kind == "clsact")
                assert kind in sh("tc qdisc show dev lan")
            finally:
                sh(f"tc qdisc del dev lan {kind}")


def test_foreign_hooks_in_the_place_of_ours_stay(lab: Lab, shaping: Make) -> None:
    gateway = config.read(gateway_text(LISTED))
    with entered(GATEWAY):
        shaper = shaping(gateway)
        shaper.up(gateway.stations)
        sh("tc qdisc del dev lan clsact; tc qdisc add dev lan ingress")
        try:
            assert shaper.faults() == ["the clsact of lan is no longer ours"]
            assert shaper.down() == []
            assert "ingress" in sh("tc qdisc show dev lan")
        finally:
            sh("tc qdisc del dev lan ingress")
        assert leftovers() == []


def test_a_foreign_interface_of_our_name_stays(lab: Lab, directory: Path, shaping: Make) -> None:
    gateway = config.read(gateway_text(LISTED))
    with entered(GATEWAY):
        sh("ip link add lh-lan type ifb")
        try:
            shaper = shaping(gateway)
            with pytest.raises(UserError, match="lh-lan: exists already"):
                shaper.up(gateway.stations)
            # the interface stays, although the log records an interface with this name
            log_in(directory).add({"kind": "link", "name": "lh-lan"})
            assert take_back(directory) == []
            assert "lh-lan" in sh("ip -o link show lh-lan")
        finally:
            sh("ip link del lh-lan")


def test_vanished_interfaces_do_not_hinder_down(lab: Lab, shaping: Make) -> None:
    gateway = config.read(gateway_text(LISTED))
    with entered(GATEWAY):
        sh("ip link add usb type veth peer name usb2; ip link set usb up")
        text = gateway_text(LISTED).replace('wan = "wan"', 'wan = "usb"')
        gateway = config.read(text)
        shaper = shaping(gateway)
        shaper.up(gateway.stations)
        sh("ip link del usb; ip link del lh-lan")
        assert len(shaper.faults()) == 2
        assert shaper.down() == []
        assert leftovers() == []
    assert transfers(station_v4(0))


def test_a_torn_line_of_the_log_is_no_record(tmp_path: Path) -> None:
    log = UndoLog(tmp_path / "undo.log")
    log.add({"kind": "link", "name": "a"})
    log.add({"kind": "link", "name": "b"})
    content = log.path.read_bytes()
    for length in range(len(content)):
        log.path.write_bytes(content[:length])
        names = [record["name"] for record in log.records()]
        assert names == ["a", "b"][: content[: length + 1].count(b"\n")]


def test_gro_is_turned_on_again(lab: Lab, shaping: Make) -> None:
    gateway = config.read(gateway_text(LISTED))
    with entered(GATEWAY):
        offload.set_merging("wan", True)
        shaper = shaping(gateway)
        shaper.up(gateway.stations)
        assert not offload.merges("wan")
        assert shaper.down() == []
        assert offload.merges("wan")
        offload.set_merging("wan", False)
