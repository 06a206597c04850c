"""Programs at stations and hosts of an emulated scenario: their output, their counters, and
processes and kernel objects that must not remain after the run.
"""

import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from emulating import COMMAND, emulated, skip_without_rights
from lab import PATIENCE_S, seeded_random, wait_until
from lasthop.emulation.programs import Patience
from lasthop.linux import pins
from lasthop.linux.processes import any_at_work, cpu_time_s

CELL = """\
name = "programs"
duration = "5 s"
warmup = "1 s"
cell = { phy = "802.11g" }
tcp.congestion = "reno"
[station.laptop]
[station.other]
upload = 1
"""
WIRES = """\
name = "programs at both ends of a wire"
duration = "5 s"
warmup = "1 s"
queue = 60
dumbbell = { bottleneck = "12 Mbps", delay = "20 ms" }
tcp.congestion = "reno"
[flow.mine]
start = "4 s"
"""
PYTHON = sys.executable
SENT_BYTES = 200_000
SERVES = f"""{PYTHON} -c '
import socket
with socket.create_server(("", 80)) as one:
    while True:
        there, _ = one.accept()
        there.sendall(bytes({SENT_BYTES}))
        there.close()
'"""
TAKES = """
import socket, sys
with socket.create_connection((sys.argv[1], 80)) as one:
    print(sum(map(len, iter(lambda: one.recv(65536), b""))), file=sys.stdout)
"""


@pytest.fixture(autouse=True, scope="module")
def rights() -> None:
    skip_without_rights()


@pytest.mark.parametrize(
    ("text", "at", "to", "name"),
    [(CELL, "laptop", "server", "server"), (WIRES, "mine/sink", "mine/source", "mine.source")],
)
def test_a_download_by_programs_is_a_flow_of_the_result(tmp_path, text, at, to, name):
    path = tmp_path / "x.toml"
    path.write_text(text)
    words = ["--json", "--at", at, "--with", to, SERVES, "--", PYTHON, "-c", TAKES, name]
    done = emulated(path, *words)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == str(SENT_BYTES)
    result = json.loads(done.stdout)
    flows = [flow for flow in result["flows"] if "/program/" in flow["name"]]
    assert len(flows) == 2
    assert all(flow["connection"].startswith("tcp 10.") for flow in flows)
    length_s = result["duration_s"] - result["warmup_s"]
    carried = [flow["goodput_bps"]["mean"] * length_s / 8 for flow in flows]
    # the carried bytes include TCP's retransmissions
    assert SENT_BYTES * 0.999 <= max(carried) < 1.3 * SENT_BYTES
    assert 0 <= min(carried) < 1000
    if text == CELL:
        assert {flow["station"] for flow in flows} == {"laptop"}
        assert {flow["direction"] for flow in flows} == {"up", "down"}


def test_programs_of_the_file_run_in_emulations(tmp_path):
    path, made = tmp_path / "x.toml", tmp_path / "there"
    serves = SERVES.replace("\n", "\\n").replace('"', '\\"')
    programs = f'[programs]\nserver = "{serves}"\nother = ["touch {made}", "true"]\n'
    path.write_text(CELL + programs)
    # a program that is requested by the file, but not by the command line, ends with the run
    words = ["--json", "--at", "laptop", "--with", "laptop", "true"]
    # The run ends with the last program, which therefore waits for the program at `other`.
    takes = shlex.join([PYTHON, "-c", TAKES, "server"])
    waits = f"until [ -e {made} ]; do sleep 0.1; done; {takes}"
    done = emulated(path, *words, "--", "timeout", str(PATIENCE_S), "sh", "-c", waits)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == str(SENT_BYTES)
    assert "warning: `programs`" not in done.stderr
    flows = [flow["name"] for flow in json.loads(done.stdout)["flows"]]
    assert {"laptop/program/1", "laptop/program/2"} < set(flows)


def test_a_link_can_replace_a_file():
    words = ["--json", "--link", "8 Mbps, 30 ms, queue 20", "--with", "server", SERVES]
    command = ["--", PYTHON, "-c", TAKES, "server"]
    done = emulated(*words, *command)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == str(SENT_BYTES)
    result = json.loads(done.stdout)
    assert result["scenario"] == "8 Mbps, 30 ms, queue 20"
    assert result["warmup_s"] == 0
    assert result["duration_s"] > 0.12  # two round trips of 60 ms
    assert [flow["name"] for flow in result["flows"]] == ["client/program/1", "client/program/2"]
    assert "classes" not in result or result["classes"] == []
    forward, back = result["links"]
    assert back["utilisation"]["mean"] > forward["utilisation"]["mean"] > 0
    queue = next(each for each in result["queues"] if each["name"] == "client-server/back")
    assert 1 < queue["occupancy_max_packets"]["mean"] <= 20


def test_places_of_a_link_are_its_ends():
    done = emulated("--link", "8 Mbps, 30 ms", "--places")
    assert done.returncode == 0, done.stderr
    assert [line.split()[:3] for line in done.stdout.splitlines()[1:]] == [
        ["client", "10.64.0.1", "client"],
        ["server", "10.128.0.1", "server"],
    ]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["sh", "-c", "exit 5"], 5),
        (["sh", "-c", "kill -9 $$"], 128 + 9),
        (["no-such-program"], 127),
        (["/etc/passwd"], 126),
    ],
)
def test_the_exit_code_is_the_programs(tmp_path, command, code):
    path = tmp_path / "x.toml"
    path.write_text(CELL)
    done = emulated(path, "--at", "laptop", "--", *command)
    assert done.returncode == code, done.stderr
    assert "other/up/1" in done.stdout


def test_a_failed_program_is_reported(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(CELL)
    failing = ["--with", "other", "exit 3", "--with", "server", "exit 0"]
    stopped = ["--with", "other", "kill -TERM $$"]
    done = emulated(path, *failing, *stopped, "--at", "laptop", "--", "sleep", "0.2")
    assert done.returncode == 0, done.stderr
    assert "a program has failed: at other, exit code 3: exit 3" in done.stderr
    assert done.stderr.count("a program has failed") == 1


def test_settings_of_the_kernel_apply_to_the_places_only(tmp_path):
    path, setting = tmp_path / "x.toml", Path("/proc/sys/net/ipv4/tcp_sack")
    path.write_text(CELL)
    before = setting.read_text()
    command = ["sh", "-c", f"exit 1$(cat {setting})"]
    for value in (0, 1):
        kernel = f"net.ipv4.tcp_sack={value}"
        done = emulated(path, "--sysctl", kernel, "--at", "laptop", "--", *command)
        assert done.returncode == 10 + value, done.stderr
    assert setting.read_text() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--at", "phone", "--", "true"], "error: phone: no such place"),
        (["--", "true"], "error: true: missing place for this command"),
        (["--at", "laptop"], "error: --at laptop: missing command to run"),
        (["--with", "server", ""], 'error: --with "server=": expected a place and a command'),
        (
            ["--shell", "laptop", "--at", "other", "--", "true"],
            "error: --shell: cannot be combined with a command",
        ),
        (
            ["--sysctl", "net.ipv4.no_such=1", "--at", "laptop", "--", "true"],
            "error: sysctl net.ipv4.no_such=1: a network namespace does not have this setting",
        ),
        (
            ["--sysctl", "net.ipv4.tcp_sack=no", "--at", "laptop", "--", "true"],
            "error: sysctl net.ipv4.tcp_sack=no: the kernel refuses the value: Invalid argument",
        ),
        (
            ["--sysctl", "kernel.panic=1", "--at", "laptop", "--", "true"],
            "error: sysctl kernel.panic=1: not a network setting",
        ),
    ],
)
def test_programs_that_cannot_run_are_refused_in_one_line(tmp_path, words, message):
    path = tmp_path / "x.toml"
    path.write_text(CELL)
    done = emulated(path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message), done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_places_are_listed(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(CELL)
    done = emulated(path, "--places")
    assert [line.split()[:3] for line in done.stdout.splitlines()[1:]] == [
        ["server", "10.255.0.1", "server"],
        ["laptop", "10.0.0.1", "laptop"],
        ["other", "10.0.0.2", "other"],
    ]


def marked(mark: str) -> list[str]:
    """Return the processes with this mark among their arguments."""
    processes = []
    for each in Path("/proc").iterdir():
        if each.name.isdecimal() and int(each.name) != os.getpid():
            try:
                words = (each / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words:
                processes.append(words.decode(errors="replace"))
    return processes


STUBBORN = "trap '' TERM INT HUP; sleep 1{mark} & (setsid sleep 2{mark} &) ; sleep 3{mark}"


def killed(path: Path, draws: random.Random, how: signal.Signals) -> int:
    """Kill an emulation at a random instant; check that its programs end; return its process
    number.
    """
    mark = f"{os.getpid():07d}{draws.randrange(10**6):06d}"
    text = STUBBORN.format(mark=mark)
    words = ["--at", "laptop", "--with", "server", text, "--", "sh", "-c", text]
    process = subprocess.Popen(
        [*COMMAND, str(path), *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(draws.uniform(0, 2.5))
    process.send_signal(how)
    process.wait(PATIENCE_S)
    wait_until(lambda: not marked(mark), "no program is left")
    return process.pid


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_of_programs_that_ignore_signals(tmp_path, how):
    path = tmp_path / "x.toml"
    path.write_text(CELL)
    before = sorted(os.listdir("/sys/class/net")), sorted(os.listdir("/proc/self/fd"))
    killed(path, random.Random(1), how)
    after = sorted(os.listdir("/sys/class/net")), sorted(os.listdir("/proc/self/fd"))
    assert after == before


AT_A_TIME = 4
"""Number of emulations that run simultaneously; they wait most of the time. [-]"""


def in_kernel(processes: set[int]) -> list[str]:
    """Return the objects that emulations have left in the kernel, without objects of other tests.

    A congestion control that an emulation loads is named after the emulation's process. Interfaces
    and mounts are named after lasthop. The mount that all commands share is not returned.
    """
    controls = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    names = {str(number) for number in processes}
    return [
        *(name for name in controls if name.rpartition("_")[2] in names),
        *(name for name in os.listdir("/sys/class/net") if name.startswith("lasthop")),
        *(line for line in mounts if "lasthop" in line and str(pins.PLACE) not in line),
    ]


@pytest.mark.slow
def test_nothing_is_left_of_two_hundred_programs(tmp_path):
    plain, lent = tmp_path / "x.toml", tmp_path / "y.toml"
    plain.write_text(CELL)
    lent.write_text(CELL.replace("reno", "compound"))
    before = set(in_kernel(set()))

    def kill(seed: int) -> int:
        own = random.Random(seed)
        how = own.choice([signal.SIGKILL, signal.SIGTERM])
        return killed(own.choice([plain, lent]), own, how)

    draws = seeded_random("kills of emulations")
    seeds = [draws.randrange(10**9) for _ in range(200)]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        processes = set(pool.map(kill, seeds))
    wait_until(lambda: set(in_kernel(processes)) <= before, "nothing is left in the kernel")


def test_processes_that_a_program_leaves_are_ended(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(CELL)
    mark = "".join(random.Random(3).choices("0123456789", k=8))
    start = time.monotonic()
    done = emulated(path, "--at", "laptop", "--", "sh", "-c", f"sleep 9{mark} & exit 3")
    assert (done.returncode, marked(mark)) == (3, [])
    assert time.monotonic() - start < 60


@pytest.mark.slow
def test_replications_have_intervals_and_the_first_code_that_is_not_0(tmp_path):
    path, made = tmp_path / "x.toml", tmp_path / "there"
    path.write_text(CELL)
    command = f"test -e {made} && exit 3; touch {made}"
    words = ["--json", "--replications", "3", "--at", "laptop", "--", "sh", "-c", command]
    done = emulated(path, *words)
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert result["replications"] == 3
    [station] = [row for row in result["stations"] if row["name"] == "other"]
    assert station["collision_rate"]["ci95"] >= 0
    assert emulated(path, "--replications", "0").returncode == 2


@pytest.mark.parametrize(
    ("command", "works"),
    [(["sh", "-c", "(while :; do :; done) & wait"], True), (["sleep", "60"], False)],
)
def test_the_command_waits_longer_for_a_program_at_work_than_for_an_idle_program(command, works):
    starter = subprocess.Popen(command, start_new_session=True)
    try:
        wait_until(lambda: any_at_work([starter.pid]) == works, "the start of the program")
        patience = Patience()
        # An emulation asks more often than every `IDLE_S`, so that no single answer decides.
        first, *waits = (patience.lasts(0.9 + 0.2 * k, [starter.pid]) for k in range(50))
        if works:
            wait_until(lambda: cpu_time_s([starter.pid]) > 0.1, "the use of a processor")
            assert patience.lasts(10.8, [starter.pid])
            assert not replace(patience, max_cpu_s=0.1).lasts(11.0, [starter.pid])
            assert not patience.lasts(60.1, [starter.pid])
    finally:
        os.killpg(starter.pid, signal.SIGKILL)
        starter.wait()
    assert first
    assert set(waits) == {works}
