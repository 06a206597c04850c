"""The memory of time series is estimated before a run. A run above the limit is refused."""

import subprocess
import sys
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.errors import TooCostlyError
from lasthop.simulation.series_memory import VALUE_BYTES, values_sampled

from .conftest import Lasthop

ROUTER = """\
duration = "2 s"
replications = 2
dumbbell = { bottleneck = "10 Mbps", delay = "5 ms", flows = 3 }
"""

CELL = """\
duration = "1 s"
replications = 1
cell.phy = "802.11b"
station.a = { count = 3, download = 1, udp_up = "1 Mbps" }
vsb = {}
"""


def sampled(text: str, interval: str) -> lh.Scenario:
    """Return the scenario with a sampling interval of time series."""
    return lh.Scenario(text, {"record.series_interval": interval})


@pytest.mark.parametrize("text", [ROUTER, CELL])
def test_the_estimated_number_of_values_is_that_of_a_run(text: str) -> None:
    scenario = sampled(text, "30 ms")
    assert values_sampled(scenario) == len(lh.simulate(scenario).series) > 0
    late = scenario.with_("record.from", "0.5 s")
    assert values_sampled(late) == len(lh.simulate(late).series) < values_sampled(scenario)
    assert values_sampled(lh.Scenario(text)) == 0


def test_a_table_needs_no_more_memory_than_estimated() -> None:
    code = (
        "import sys, pandas, lasthop as lh\n"
        "def peak():  # `getrusage` begins with what the parent had\n"
        "    status = open('/proc/self/status').read()\n"
        "    return 1024 * int(status.split('VmHWM:')[1].split()[0])\n"
        "lh.simulate(sys.argv[1], replications=1, series='0.1 s').series\n"
        "before = peak()\n"
        "values = len(lh.simulate(sys.argv[1], replications=1, series='40 us').series)\n"
        "print((peak() - before) / values)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, ROUTER], capture_output=True, text=True, check=True
    )
    assert 0.5 * VALUE_BYTES < float(done.stdout) < VALUE_BYTES


def test_series_that_are_too_large_are_refused_with_their_estimate() -> None:
    # There are a million samples of 10 series: 3 goodputs, 3 windows, 2 queues and 2 links.
    text = sampled(ROUTER, "2 us")
    with pytest.raises(TooCostlyError, match=r"10 time series of 1000000 samples") as caught:
        lh.simulate(text)
    assert "would take up to 3.5 GB; expected 2 GB" in str(caught.value)
    assert caught.value.hint == "max_memory_bytes=5e+09 allows it; take samples only every 5e-06 s"
    with pytest.raises(TooCostlyError, match=r"time series of 2 points together would take up to"):
        lh.sweep(sampled(ROUTER, "4 us"), {"seed": [1, 2, 3]}, jobs=2)
    with pytest.raises(TooCostlyError, match=r"time series of a point would take up to 70 MB"):
        lh.sweep(sampled(ROUTER, "100 us"), {"seed": [1, 2]}, jobs=1, max_memory_bytes=5e7)


@pytest.mark.parametrize("command", ["simulate", "sweep"])
def test_the_command_line_reports_the_refusal(
    lasthop: Lasthop, tmp_path: Path, command: str
) -> None:
    over = ("--over", "seed=1,2", "--jobs", "1") if command == "sweep" else ()
    path = tmp_path / "many.toml"
    path.write_text(ROUTER)
    done = lasthop(command, path, *over, "--series", "2 us", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "would take up to 3.5 GB; expected 2 GB" in done.stderr
    assert "hint: --max-memory 5GB allows it" in done.stderr
