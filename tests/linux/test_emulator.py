"""Real TCP over the emulated cell, in network namespaces; wide bands: it is the wall clock."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.emulation import Emulation, emulate
from lasthop.emulation.traffic import SERVER
from lasthop.linux.netns import Namespace
from lasthop.linux.tun import open_tun

CELL = """\
name = "one against the other"
duration = "16 s"
warmup = "6 s"
stagger = "50 ms"
cell = { phy = "802.11b", ap_queue = 75 }
tcp = { congestion = "reno", window = 42 }
"""

DOWNLOADS = "[station.first]\ndownload = 4\n[station.other]\ndownload = 1\n"
UPLOADS = "[station.first]\nupload = 4\n[station.other]\ndownload = 1\ncount = 4\n"
"""As in the paper's figure 5: against two stations alone the level is just 2."""


@pytest.fixture(autouse=True, scope="module")
def rights(request: pytest.FixtureRequest) -> None:
    """Skip with the reason, or fail with --require-kernel, where namespaces cannot be made."""
    try:
        node = Namespace()
        os.close(node.run(lambda: open_tun("probe", SERVER, "255.0.0.0", 1500)))
        node.close()
    except (lh.UserError, OSError) as error:
        if request.config.getoption("--require-kernel", default=False):
            pytest.fail(f"--require-kernel: {error}", pytrace=False)
        pytest.skip(f"no emulation here: {error}")


def run(path: Path, stations: str) -> Emulation:
    path.write_text(CELL + stations)
    return emulate(path)


def eta(answer: Emulation) -> float:
    goodputs = answer.stations["goodput_bps"]
    return float(goodputs["first"] / goodputs.drop("first").mean())


@pytest.mark.parametrize("stations", [DOWNLOADS, UPLOADS], ids=["downloads", "uploads"])
def test_the_bottleneck_makes_real_tcp_fair(tmp_path, stations):
    free = run(tmp_path / "free.toml", stations)
    shared = run(tmp_path / "shared.toml", f"{stations}[vsb]\n")
    print(f"eta {eta(free):.2f} -> {eta(shared):.3f}, late {shared.lateness_p99_s}")
    assert eta(free) > 2
    assert 0.9 < eta(shared) < 1.1
    total = [answer.cells["goodput_bps"].iloc[0] for answer in (free, shared)]
    assert abs(total[1] / total[0] - 1) < 0.1, total


def test_the_estimator_settles_under_the_capacity_of_the_engine(tmp_path):
    path = tmp_path / "x.toml"
    shared = run(path, f"{DOWNLOADS}[vsb]\n")
    simulated = lh.simulate(path, replications=5)
    (seen, expected) = (one.links.loc["vsb", "capacity_bps"] for one in (shared, simulated))
    assert abs(seen / expected - 1) < 0.05, (seen, expected)
    assert shared.links.loc["vsb", "ping_rtt_p95_s"] < 0.08


def namespaces() -> set[str]:
    """Network namespaces of all processes."""
    found = set()
    for task in Path("/proc").glob("[0-9]*/task/*/ns/net"):
        try:
            found.add(str(task.readlink()))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_however_it_ends(tmp_path, how):
    path = tmp_path / "x.toml"
    path.write_text(CELL + DOWNLOADS)
    interfaces = sorted(os.listdir("/sys/class/net"))
    command = [
        sys.executable,
        "-c",
        "import sys; from lasthop.cli import main; sys.exit(main())",
        "emulate",
        str(path),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(5)
        before = time.monotonic()
        process.send_signal(how)
        _, said = process.communicate(timeout=20)
        assert time.monotonic() - before < 5
    assert process.returncode != 0
    assert b"Traceback" not in said
    assert sorted(os.listdir("/sys/class/net")) == interfaces
    assert not Path(f"/proc/{process.pid}").exists()


def test_the_command_prints_a_result(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(CELL.replace("16 s", "4 s").replace("6 s", "1 s") + DOWNLOADS)
    command = [sys.executable, "-c", "import sys; from lasthop.cli import main; sys.exit(main())"]
    done = subprocess.run(
        [*command, "emulate", str(path), "--json"], capture_output=True, text=True, check=True
    )
    result = json.loads(done.stdout)
    assert result["kind"] == "emulation"
    assert "late" in done.stderr
    assert {station["name"] for station in result["stations"]} == {"first", "other"}
    assert all(flow["goodput_bps"]["mean"] > 0 for flow in result["flows"])


def test_a_comparison_lays_all_three_side_by_side(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(CELL + DOWNLOADS)
    comparison = lh.compare(path, replications=2, emulate=True)
    rows = {(row.name, row.quantity): row for row in comparison.rows if row.list == "stations"}
    level = rows["other", "fairness_level"]
    assert level.predicted == pytest.approx(4.0, rel=0.01)
    assert 2 < level.simulated < 8
    assert 2 < level.emulated < 8
    assert comparison.to_dict()["emulation"]["kind"] == "emulation"
    assert "emulated" in comparison.table
