"""Links whose rate follows a trace, from the file to the results."""

import pickle
from pathlib import Path

import pytest

import lasthop as lh

from .conftest import Lasthop

TIMES = [3, 3, 8, 8, 8, 41, 60, 100]
LINK = """\
duration = "12 s"
warmup = "2 s"
replications = 1
[link.lte]
from = "server"
to = "phone"
rate = { trace_file = "down.trace" }
back_rate = { trace = [1, 2] }
delay = "5 ms"
[flow.file]
from = "server"
to = "phone"
start_spread = "0 s"
[tcp]
congestion = "newreno"
sack = false
initial_window = 2
window = 42
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """Write a scenario and its trace into the same directory."""
    path = tmp_path / "lte.toml"
    path.write_text(LINK)
    write(tmp_path, *TIMES)
    return path


def write(folder: Path, *lines: object, end: str = "\n") -> None:
    text = "".join(f"{line}{end}" for line in lines)
    (folder / "down.trace").write_bytes(text.encode())


def test_one_full_packet_passes_per_opportunity(scenario: Path) -> None:
    result = lh.simulate(scenario)
    packets = result.flows.loc["file", "goodput_bps"] * 10 / (8 * 1460)
    assert packets == pytest.approx(100 * len(TIMES), abs=1e-6)
    lte = result.links.loc["lte"]
    assert lte["utilisation"] == 1.0
    # In 100 ms, the reverse direction transmits four ACKs of 40 B, each with 4 B of header.
    # Its capacity in this time is a hundred transmission opportunities of 1,504 B.
    share = 4 * 44 / (100 * 1504)
    assert result.links.loc["lte/back", "utilisation"] == pytest.approx(share, rel=0.05)


def test_a_list_equals_a_file(scenario: Path) -> None:
    listed = lh.Scenario(scenario, {"link.lte.rate": {"trace": TIMES}})
    assert listed == lh.Scenario(scenario)
    assert listed["links"][0]["trace"]["opportunities"] == len(TIMES)
    other = lh.Scenario(scenario, {"link.lte.rate": {"trace": [*TIMES[:-2], 61, 100]}})
    assert other["links"][0]["rate_bps"] == listed["links"][0]["rate_bps"]
    assert other != listed


def test_windows_line_ends_change_nothing(scenario: Path) -> None:
    before = lh.Scenario(scenario)
    write(scenario.parent, *TIMES, end="\r\n")
    assert lh.Scenario(scenario) == before


def test_a_scenario_keeps_the_content_of_its_trace_file(scenario: Path) -> None:
    known = lh.Scenario(scenario)
    (scenario.parent / "down.trace").unlink()
    assert pickle.loads(pickle.dumps(known)) == known
    assert known.with_("seed", 2)["links"] == known["links"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], '"down.trace" is empty'),
        ([4, 2], '"down.trace" has "2" in line 2, which is before the previous time, 4'),
        ([0, 0], '"down.trace" ends with 0 in line 2, so that it takes no time'),
        ([-1, 2], '"down.trace" has "-1" in line 1, which is negative'),
        ([1, "fast"], '"down.trace" has "fast" in line 2, which is not a whole number'),
        (range(1, 1_000_003), '"down.trace" has 1000002 lines'),
        (None, '"down.trace" cannot be read: no such file'),
    ],
)
def test_an_invalid_trace_is_refused_in_one_line(
    lasthop: Lasthop, scenario: Path, lines: list[object] | None, message: str
) -> None:
    if lines is None:
        (scenario.parent / "down.trace").unlink()
    else:
        write(scenario.parent, *lines)
    done = lasthop("simulate", scenario)
    first = f"error: {scenario}:7: `link.lte.rate.trace_file`: {message}; expected a file of "
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(first)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        ("[]", "a list is empty"),
        ("[4, 2]", "a list has 2 as item 2, which is before the previous time, 4"),
        ("[0]", "a list ends with 0 as item 1, so that it takes no time"),
        ("[2.5]", "a list has 2.5 as item 1, which is not a whole number"),
        ('["2.5 ms"]', 'a list has "2.5 ms" as item 1, which is not a whole number of ms'),
        ("[1e10]", "a list has 1e10 as item 1, which is too large"),
        ("7", "7 is not a list of times"),
    ],
)
def test_an_invalid_list_is_refused(scenario: Path, trace: str, message: str) -> None:
    with pytest.raises(lh.ScenarioError) as refused:
        lh.Scenario(scenario, {"link.lte.back_rate": f"{{ trace = {trace} }}"})
    [problem] = refused.value.problems
    assert problem.path == "link.lte.back_rate.trace"
    assert problem.message.startswith(f"{message}; expected a list of ")


def test_times_may_have_units(scenario: Path) -> None:
    with_units = [f"{ms} ms" for ms in TIMES[:-1]] + ["0.1 s"]
    listed = lh.Scenario(scenario, {"link.lte.rate": {"trace": with_units}})
    assert listed == lh.Scenario(scenario)


def test_a_model_says_that_it_uses_the_mean(scenario: Path) -> None:
    dumbbell = """\
duration = "20 s"
queue = { limit = 100, red = { min_th = 20, max_th = 60 } }
dumbbell = { bottleneck = { trace = [2, 4, 4, 6] }, flows = 20, access = "2 Mbps", rtt = "40 ms" }
tcp = { congestion = "compound", delayed_ack = false }
"""
    warnings = lh.predict(dumbbell).warnings
    assert "link bottleneck follows a trace; the model uses its mean, 8 Mb/s" in warnings


def test_both_directions_of_a_cells_wire_have_their_rate(tmp_path: Path) -> None:
    cell = """\
duration = "12 s"
warmup = "2 s"
replications = 1
cell = { phy = "802.11g" }
wire = { rate = { trace = [5, 5, 10] }, back_rate = "8 Mbps", queue = { codel = {} } }
station.a = { download = 1 }
"""
    result = lh.simulate(cell)
    links = result.links
    assert links.loc["wire/down", "utilisation"] > 0.9
    assert lh.Scenario(cell)["wire"]["back_rate_bps"] == 8_000_000
    # There is an ACK of 40 B for every two segments, or at most for each segment.
    acks_bps = result.flows["goodput_bps"].sum() / 1460 / 2 * 40
    assert 1 <= links.loc["wire/up", "utilisation"] * 8e6 / acks_bps <= 2
