"""`plan --sh`: a shell script on a router without Python causes the same kernel state as `up`."""

import re
import signal
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from lab import (
    GATEWAY,
    PATIENCE_S,
    STATIONS,
    Child,
    Lab,
    entered,
    gateway_text,
    leftovers,
    log_in,
    sh,
    station_v4,
    wait_until,
)
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.script import script
from lasthop.enforce.gateway.shaper import Shaper
from router import Router
from shown import state
from traffic import transfers

pytestmark = pytest.mark.usefixtures("router_programs")

FOUND = '[gateway.discover]\nneighbours = true\ninterval = "1 s"\nabsence = "3 s"'


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """Yield a hot-spot without a slow hop."""
    with Lab(stations=3, rate_bps=None) as lab:
        yield lab


@pytest.fixture(autouse=True)
def without_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the gateway of every test classify by filters instead of BPF programs. The tests compare
    this gateway with a script, which cannot load BPF programs.
    """
    monkeypatch.setattr(Shaper, "has_programs", lambda _: False)


@pytest.fixture(params=["ash", "dash"])
def router(request: pytest.FixtureRequest, lab: Lab, tmp_path: Path) -> Iterator[Router]:
    router = Router(tmp_path / "root", request.param)
    yield router
    router.close()
    assert left() == []


@pytest.fixture
def dash(lab: Lab, tmp_path: Path) -> Iterator[Router]:
    """Yield a router whose shell, `dash`, finds commands only in PATH, so that a test can replace
    `tc`. Debian's busybox shell would run its own `tc` instead.
    """
    router = Router(tmp_path / "root", "dash")
    yield router
    router.close()
    assert left() == []


def left() -> list[str]:
    """Return the kernel objects that a gateway has left in its namespace."""
    with entered(GATEWAY):
        return leftovers()


def without_indexes(lines: Iterable[str]) -> list[str]:
    """Remove the index of the interface, which differs after each start, from lines of `ip`."""
    return [re.sub(r"^\d+: ", "", line) for line in lines]


def made(text: str) -> str:
    """Return the script that `plan --sh` makes from a gateway file."""
    return script(config.read(text))


KINDS = {
    "station": "",
    "rate": 'fairness = "rate"\nstation.fast = { address = "10.77.1.99", rate = "54 Mbps" }\n'
    'station.slow = { address = "10.77.1.98", rate = "6 Mbps" }',
    "flow": 'fairness = "flow"\nflow_leaves = 7',
    "direction": 'fairness = "direction"',
    "estimated": "",
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_script_and_up_leave_the_same(router: Router, tmp_path: Path, kind: str) -> None:
    rate = "estimated" if kind == "estimated" else "5 Mbps"
    text = gateway_text(3, KINDS[kind], rate=rate)
    gateway = config.read(text)

    def by_up() -> str:
        with Shaper(gateway, log_in(tmp_path)) as shaper:
            shaper.up(gateway.stations)
            try:
                return state()
            finally:
                shaper.down()

    expected = Child(GATEWAY, by_up).result()
    router.write(made(text))
    router.start()
    assert Child(GATEWAY, state).result() == expected
    assert expected.count("match ") > 12
    assert transfers(station_v4(0))
    assert router.end() == 0, router.printed()
    assert left() == []
    assert [path.name for path in router.state.iterdir()] == ["lock"]
    assert router.printed() == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_takes_everything_back(router: Router, number: signal.Signals) -> None:
    router.write(made(gateway_text(2)))
    router.start()
    assert len(left()) > 2
    assert router.end(number) == (130 if number == signal.SIGINT else 0)
    assert left() == []


def test_stop_ends_the_script(router: Router) -> None:
    router.write(made(gateway_text(2, rate="estimated")))
    router.start()
    done = router.run("stop")
    assert (done.returncode, done.stderr) == (0, "")
    assert router.running is not None
    assert router.running.wait(PATIENCE_S) == 0
    assert left() == []


def test_remains_of_a_killed_script_are_undone_by_stop_and_by_start(router: Router) -> None:
    router.write(made(gateway_text(2)))
    router.start()
    router.end(signal.SIGKILL)
    before = left()
    assert len(before) > 2
    assert transfers(station_v4(0))  # the traffic is still shaped
    router.start()
    assert without_indexes(left()) == without_indexes(before)
    router.end(signal.SIGKILL)
    assert router.run("stop").returncode == 0
    assert left() == []
    assert router.run("stop").returncode == 0


def test_a_second_script_is_refused(router: Router) -> None:
    router.write(made(gateway_text(2)))
    router.start()
    before = left()
    done = router.run()
    assert router.running is not None
    assert done.stderr == f"lasthop: process {router.running.pid} runs already\n"
    assert done.returncode == 1
    assert left() == before


def test_a_failure_at_any_command_undoes_everything(dash: Router) -> None:
    """For several k, the k-th call of `tc` that sets up the gateway fails."""
    dash.write(made(gateway_text(2)))
    commands = [line for line in made(gateway_text(2)).splitlines() if "    try tc" in line]
    assert len(commands) > 20
    for k in (1, 2, len(commands) // 2, len(commands) - 1, len(commands)):
        # The k-th call of `tc` fails. Calls of the function `undo` are not counted.
        # Calls for the interface lh-try-*, at which the script tests the kernel, are not counted.
        dash.replace(
            "tc",
            "#!/bin/sh\n"
            'case "$*" in *lh-try-*|"qdisc show"|"qdisc del"*) exec /sbin/tc.real "$@";; esac\n'
            f'echo >>/tmp/calls\n[ "$(grep -c "" /tmp/calls)" = {k} ] && exit 2\n'
            'exec /sbin/tc.real "$@"\n',
        )
        done = dash.run()
        assert done.returncode == 1
        refused = commands[k - 1].split("try ")[1]
        assert done.stderr.splitlines() == [f"lasthop: refused: {refused}"]
        assert left() == []
        dash.restore("tc")
        (dash.root / "tmp/calls").unlink()


def test_parts_of_other_programs_stay(dash: Router) -> None:
    """Hooks and an IFB of other programs are not removed, whether or not they have the names that
    the script uses.
    """
    dash.write(made(gateway_text(2)))
    with entered(GATEWAY):
        sh("ip link add lh-lan type ifb; tc qdisc add dev lan clsact")
    try:
        done = dash.run()
        assert done.returncode == 1
        assert "refused: ip link add lh-lan" in done.stderr
        with entered(GATEWAY):
            sh("ip link show lh-lan; ip link del lh-lan")
        done = dash.run()
        assert done.returncode == 1
        assert "refused: tc qdisc add dev lan ingress_block" in done.stderr
        assert dash.run("stop").returncode == 0
        assert [line.split()[1] for line in left()] == ["clsact"]
    finally:
        with entered(GATEWAY):
            sh("tc qdisc del dev lan clsact; ip link del lh-lan 2>/dev/null || true")


@pytest.mark.parametrize(
    ("program", "answer", "message"),
    [
        (
            "tc",
            "exit 1",
            "missing: htb u32 mirred clsact pfifo; packages: kmod-sched-core, tc-tiny",
        ),
        (
            "tc",
            'case "$*" in *mirred*) exit 1;; esac; exec /sbin/tc.real "$@"',
            "missing: mirred; packages: kmod-sched-core, tc-tiny",
        ),
        (
            "ip",
            'case "$*" in *"type ifb"*) exit 1;; esac; exec /sbin/ip.real "$@"',
            "missing: ifb; package: kmod-ifb",
        ),
        (
            "ip",
            'echo "BusyBox"',
            "missing: ip of iproute2, this one is another; package: ip-tiny",
        ),
    ],
    ids=["sched", "mirred", "ifb", "busybox"],
)
def test_features_that_the_router_lacks_are_named_in_one_line(
    dash: Router, program: str, answer: str, message: str
) -> None:
    dash.write(made(gateway_text(2)))
    dash.replace(program, f"#!/bin/sh\n{answer}\n")
    done = dash.run()
    dash.restore(program)
    assert (done.returncode, done.stderr) == (1, f"lasthop: {message}\n")


@pytest.mark.parametrize("arguments", [(), ("stop",)])
def test_missing_programs_are_named(dash: Router, arguments: tuple[str, ...]) -> None:
    dash.write(made(gateway_text(2)))
    place = dash.root / "sbin/tc"
    place.rename(dash.root / "tc")
    done = dash.run(*arguments)
    (dash.root / "tc").rename(place)
    message = "lasthop: missing: tc; packages: ip-tiny, tc-tiny, busybox\n"
    assert (done.returncode, done.stderr) == (1, message)


def test_a_missing_interface_is_named(dash: Router) -> None:
    dash.write(made(gateway_text(2).replace('wan = "wan"', 'wan = "eth7"')))
    done = dash.run()
    assert (done.returncode, done.stderr) == (1, "lasthop: interface eth7 is not there\n")


def test_neighbours_come_and_go(router: Router, tmp_path: Path) -> None:
    """Stations that the script finds get the same kernel objects as listed stations. The script
    removes these objects when the stations have left.
    """
    text = gateway_text(0) + FOUND + '\nignore = "10.77.1.12"\n'
    router.write(made(text))
    for address in ("10.77.1.10", "10.77.1.11", "10.77.1.12", "fd77:1::a"):
        sh(f"ip netns exec {STATIONS} busybox ping -c 1 -I {address} {gate(address)}")
    router.start()
    rows = router.state / "stations"
    wait_until(lambda: rows.read_text().count("\n") == 3, "finding stations")
    lines = [line.split() for line in rows.read_text().splitlines()]
    assert {line[6] for line in lines} == {"10.77.1.10", "10.77.1.11", "fd77:1::a"}
    # all lines belong to one machine, which has one MAC address
    assert len({line[0] for line in lines}) == 1
    same = "".join(f"{line[6]}, " for line in lines).strip(", ")
    mac = lines[0][0]
    gateway = config.read(text + f'[gateway.station.s]\nmac = "{mac}"\naddress = "{same}"\n')
    state_by_script = Child(GATEWAY, state).result()

    def forgotten() -> bool:
        # flushed repeatedly: a station that sends to the gateway becomes a neighbour again
        with entered(GATEWAY):
            sh("ip neigh flush dev lan")
        return rows.read_text() == ""

    wait_until(forgotten, "forgetting stations")
    assert "6c68:100" not in Child(GATEWAY, state).result()
    assert router.end() == 0
    assert router.printed() == ""

    def by_up() -> str:
        with Shaper(gateway, log_in(tmp_path)) as shaper:
            shaper.up(gateway.stations)
            try:
                return state()
            finally:
                shaper.down()

    assert state_by_script == Child(GATEWAY, by_up).result()


def gate(address: str) -> str:
    """Return the gateway's address in the stations' network."""
    return "fd77:1::1" if ":" in address else "10.77.1.1"


def test_odd_names_of_interfaces_are_harmless(dash: Router) -> None:
    odd = "a'b$(x);`y`*"
    with entered(GATEWAY):
        sh("ip link add odd type veth peer name odd2")
        subprocess.run(["ip", "link", "set", "odd", "name", odd, "up"], check=True)
    try:
        text = gateway_text(1).replace('lan = "lan"', f'lan = "{odd}"')
        dash.write(made(text))
        dash.start()
        assert any(odd in line for line in left())
        assert dash.end() == 0, dash.printed()
        assert left() == []
        assert dash.printed() == ""
    finally:
        with entered(GATEWAY):
            sh("ip link del odd2")


def test_the_script_ends_when_its_interface_is_gone(dash: Router) -> None:
    dash.write(made(gateway_text(1, rate="estimated")))
    dash.start()
    with entered(GATEWAY):
        sh("ip link del lh-lan")
    assert dash.running is not None
    assert dash.running.wait(PATIENCE_S) == 1
    assert re.search("lasthop: lh-lan is gone", dash.printed())
    assert left() == []
