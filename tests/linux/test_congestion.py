"""Congestion controls that are loaded into the kernel: the processes that keep them loaded, their
removal, and their congestion windows.
"""

import ctypes
import fcntl
import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from scipy import stats

import commands
import lasthop as lh
import lossy
from lab import wait_until
from lasthop.enforce.congestion import CONTROLS, loaded
from lasthop.enforce.congestion.loading import missing
from lasthop.linux import pins
from lasthop.linux.tcp import available_congestion

CLONE_NEWUSER = 0x10000000
"""Flag of unshare(2) for a new user namespace."""
NAME = CONTROLS["compound"].kernel_name
EMULATED = """\
duration = "60 s"
cell = { phy = "802.11b" }
tcp.congestion = "compound"
[station.a]
download = 1
upload = { connections = 1, congestion = "illinois" }
"""


@pytest.fixture(autouse=True, scope="module")
def rights() -> None:
    """Skip with a reason if no congestion control can be loaded."""
    reason = missing()
    if reason is not None:
        pytest.skip(f"no congestion control can be loaded here: {reason}")


@pytest.fixture(autouse=True)
def clean(rights: None) -> Iterator[None]:
    """Check that no congestion control is loaded before or after a test. Tests run one at a time,
    since names are valid for the whole machine.
    """
    lock = os.open("/run", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        names = {each.kernel_name for each in CONTROLS.values() if not each.is_everyones}
        assert not names & set(available_congestion()), (
            "run `lasthop congestion list` to see its origin"
        )
        yield
        wait_until(lambda: not names & set(available_congestion()), "what was loaded to be gone")
        assert not pins.PLACE.exists()
    finally:
        os.close(lock)


def lasthop(*arguments: str) -> tuple[int, str, str]:
    done = commands.run("congestion", *arguments)
    return done.returncode, done.stdout, done.stderr


def listed() -> dict[str, Any]:
    code, printed, _ = lasthop("list", "--json")
    assert code == 0
    return {each["name"]: each for each in json.loads(printed)["kernel"]}


def loading(stack: ExitStack, *arguments: str) -> commands.ForkedCommand:
    """Start a process that loads a congestion control and keeps it loaded."""
    words = ["congestion", "load", *arguments]
    process = stack.enter_context(commands.ForkedCommand(words, is_read=True))
    assert process.stdout is not None
    assert process.stdout.readline() == f"compound is loaded as {NAME} until Ctrl-C\n"
    return process


def connected(name: str) -> tuple[socket.socket, socket.socket]:
    """Return both ends of a connection over the loopback interface; the client uses a congestion
    control.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.socket()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        client.connect(server.getsockname())
        return client, server.accept()[0]


def carries(ends: tuple[socket.socket, socket.socket], length: int = 5_000_000) -> bool:
    """Return whether `length` bytes arrive at the other end of a connection."""
    client, server = ends
    sender = os.fork()
    if sender == 0:
        client.sendall(bytes(length))
        os._exit(0)
    left = length
    while left > 0 and (got := len(server.recv(1 << 20))):
        left -= got
    os.waitpid(sender, 0)
    return left == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_loader_however_it_ends(how):
    with ExitStack() as stack:
        process = loading(stack, "compound")
        assert NAME in available_congestion()
        held = listed()[NAME]
        assert (held["law"], held["origin"], held["stays"]) == ("compound", "BPF", False)
        assert [each["number"] for each in held["processes"]] == [process.pid]
        process.send_signal(how)
        assert process.wait(30) == (-how if how == signal.SIGKILL else 0)
        wait_until(lambda: NAME not in available_congestion(), "the name to be gone")


def test_a_loaded_control_stays_until_it_is_unloaded():
    try:
        assert lasthop("load", "compound", "--stay")[0] == 0
        assert (listed()[NAME]["stays"], listed()[NAME]["processes"]) == (True, [])
        code, _, printed = lasthop("load", "compound")
        assert (code, printed.splitlines()[0]) == (
            2,
            "error: congestion control compound: loaded already",
        )
    finally:
        code, printed, _ = lasthop("unload", "compound")
    assert (code, printed) == (0, f"{NAME} is unloaded\n")
    assert NAME not in available_congestion()
    code, _, printed = lasthop("unload", "compound")
    assert (code, printed) == (2, "error: congestion control compound: not loaded\n")


def test_a_control_in_use_is_not_unloaded_and_its_process_is_named():
    with ExitStack() as stack:
        process = loading(stack, "compound")
        code, _, printed = lasthop("unload", "compound")
        assert code == 2
        by = f"kept loaded by process {process.pid}"
        assert printed.startswith(f"error: congestion control compound: {by}")
        assert NAME in available_congestion()


def test_a_connection_keeps_its_control_until_it_ends():
    with ExitStack() as stack:
        process = loading(stack, "compound")
        ends = connected(NAME)
        for each in ends:
            stack.callback(each.close)
        assert carries(ends)
        process.kill()
        process.wait()
        wait_until(lambda: NAME not in available_congestion(), "the name to be gone")
        assert carries(ends)
        used = ends[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        assert used.rstrip(b"\0").decode() == NAME


def test_users_without_rights_may_choose_a_loaded_control():
    with ExitStack() as stack:
        loading(stack, "compound")
        child = os.fork()
        if child == 0:
            os.setuid(65534)
            connection = socket.socket()
            try:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, NAME.encode())
            except OSError:
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("law", CONTROLS)
def test_each_algorithm_carries_a_flow_under_a_name_of_the_process(law):
    with loaded([law, "reno"]) as names, ExitStack() as stack:
        assert list(names) == [law]
        ends = connected(names[law])
        for each in ends:
            stack.callback(each.close)
        assert carries(ends)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_emulation_loads_its_controls_and_leaves_nothing(tmp_path, how):
    path = tmp_path / "x.toml"
    path.write_text(EMULATED)
    with commands.ForkedCommand(["emulate", path]) as process:
        ours = {f"ctcp_{process.pid}", f"illi_{process.pid}"}
        if "illinois" in available_congestion():
            ours.remove(f"illi_{process.pid}")
        wait_until(lambda: ours <= set(available_congestion()), "the controls to be loaded")
        process.send_signal(how)
        _, printed = process.communicate()
    assert "Traceback" not in printed
    wait_until(lambda: not ours & set(available_congestion()), "the names to be gone")


def test_without_rights_the_missing_right_is_named_in_a_line():
    code, _, printed = in_user_namespace("load", "compound")
    assert code == 2
    assert printed.startswith(
        "error: congestion control compound: this process may not load BPF programs\nhint: needs"
    )
    code, printed, _ = in_user_namespace("list", "--json")
    assert code == 0
    assert "may not load" in json.loads(printed)["missing"]


def in_user_namespace(*arguments: str) -> tuple[int, str, str]:
    done = commands.run("congestion", *arguments, before=enter_user_namespace)
    return done.returncode, done.stdout, done.stderr


def enter_user_namespace() -> None:
    """Become root in a new user namespace, like `unshare -Ur`."""
    assert ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER) == 0
    for name, text in (("setgroups", "deny"), ("uid_map", "0 0 1"), ("gid_map", "0 0 1")):
        Path("/proc/self", name).write_text(text)


RTT_S, WARMUP_S = 0.1, 20.0
SLACK = 0.03
"""Tolerated relative difference between the windows of kernel and engine, in addition to both
confidence intervals. The cause of the difference is loss recovery. [-]
"""


@pytest.mark.measured
@pytest.mark.parametrize(
    ("law", "kind", "period", "flows", "length_s", "least_lost"),
    [
        ("compound", "every", 500, 80, 40.0, 1600),
        ("compound", "probability", 500, 80, 60.0, 2400),
        # No case for Illinois has periodic losses: its mean window would have several values.
        ("illinois", "probability", 1000, 10, 100.0, 2300),
    ],
    ids=["compound-every", "compound-probability", "illinois-probability"],
)
def test_mean_windows_are_those_of_the_engine(law, kind, period, flows, length_s, least_lost):
    """Compare the mean windows of kernel and engine over a path without a queue. All flows together
    have a few thousand losses.

    The tolerance includes the confidence intervals of both means. With a quarter of the losses, the
    intervals would be twice as wide.
    """
    with loaded([law]) as names:
        name = names[law]
        each = [
            lossy.Flow(name, lossy.every(period))
            if kind == "every"
            else lossy.Flow(name, lossy.independent(1 / period, k))
            for k in range(flows)
        ]
        late_s = lossy.run(each, RTT_S, WARMUP_S, length_s)
    windows = [flow.window(length_s) for flow in each]
    lost = sum(flow.marks[1][1] - flow.marks[0][1] for flow in each)
    mean = fmean(windows)
    half = stats.t.ppf(0.975, flows - 1) * stdev(windows) / flows**0.5
    expected, expected_half = window_of_engine(law, kind, period)
    print(
        f"{law} {kind} {period}: {mean:.2f} ± {half:.2f}, engine {expected:.2f} "
        f"± {expected_half:.2f}; "
        f"{lost} losses, late {late_s:.4f} s"
    )
    assert lost > least_lost
    assert abs(mean - expected) < SLACK * expected + half + expected_half


def window_of_engine(law: str, kind: str, period: int) -> tuple[float, float]:
    """Return the mean number of packets in flight and its confidence interval, for the same path in
    the simulator.
    """
    path = {"from": "a", "to": "b"}
    loss = {kind: period if kind == "every" else 1 / period}
    scenario = {
        "duration": "400 s",
        "warmup": "40 s",
        "replications": 30,
        "link": {"path": path | {"delay": f"{1000 * RTT_S / 2} ms", "loss": loss}},
        "flow": {"one": path | {"count": 1, "rtt": f"{1000 * RTT_S} ms"}},
        "tcp": {"congestion": law, "window": 65_535, "initial_window": 10, "delayed_ack": False}
        | {"sack": True, "prr": True},
    }
    flow = lh.simulate(scenario).flows.iloc[0]
    packets = RTT_S / (8 * 1460)
    return flow["goodput_bps"] * packets, flow["goodput_bps_ci95"] * packets
