"""Error messages use the terms of the caller: arguments in Python, options on the command line."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.cli.words import hint_in_options, message_in_options, source_in_options
from lasthop.emulation.limits import check_followed
from lasthop.emulation.places import place_named
from lasthop.errors import UserError
from lasthop.progress.cost_limits import TIMES, allowing, need, written
from lasthop.tuning import stopwatch

from .conftest import SMALL, Lasthop

CLI = re.compile(r"(?<![\w-])--[a-z]|command line|\blasthop [a-z]+ FILE")
"""Options of the command line, which must not appear in error messages in Python."""

CELL = {"duration": "2 s", "cell": {"phy": "802.11b"}, "station": {"a": {"download": 1}}}
ROUTER = {"duration": "2 s", "dumbbell": {"flows": 2, "bottleneck": "9 Mbps", "rtt": "9 ms"}}
LONG_CHAIN = {
    **CELL,
    "cell": {"phy": "802.11b", "ap_queue": 10**5, "ap": {"cwmin": 3, "txop_packets": 15}},
    "tcp": {"congestion": "reno", "window": 42, "delayed_ack": False},
    "station": {"a": {"count": 500, "upload": 1}},
}

BAD: dict[str, Callable[[], object]] = {
    "setting": lambda: lh.simulate(CELL, settings={"cell.ap.cwmin": -1}),
    "setting unknown": lambda: lh.predict(CELL, settings={"cell.ap.cwmim": 1}),
    "setting without path": lambda: lh.Scenario(CELL, {"": 1}),
    "path of nothing": lambda: lh.check(CELL).with_("a..b", 1),
    "setting of a new table": lambda: lh.check(CELL).with_("link.a.rate", "9 Mbps"),
    "setting of a member": lambda: lh.check(LONG_CHAIN).with_("station.a-2.rate", "2 Mbps"),
    "table over a value": lambda: lh.check(CELL).with_("duration.x", 5),
    "replications": lambda: lh.simulate(CELL, replications=0),
    "seed": lambda: lh.simulate(CELL, seed=-1),
    "series": lambda: lh.simulate(CELL, series="often"),
    "frames": lambda: lh.simulate(CELL, frames=-1),
    "jobs": lambda: lh.simulate(CELL, jobs=0),
    "many jobs": lambda: lh.sweep(CELL, {"seed": [1]}, jobs=10**9),
    "no file": lambda: lh.simulate("nowhere.toml"),
    "no scenario": lambda: lh.simulate({}),
    "model": lambda: lh.predict(CELL, model="crystal ball"),
    "option": lambda: lh.predict(CELL, model="hotspot", options={"bta": 1}),
    "assumption": lambda: lh.predict(CELL, model="hotspot", settings={"wire.loss": 0.1}),
    "cost": lambda: lh.predict(LONG_CHAIN, model="edca", max_time_s=1e-6),
    "fluid of a cell": lambda: lh.fluid(CELL),
    "values": lambda: lh.sweep(CELL, {"seed": 3}),
    "no values": lambda: lh.sweep(CELL, {"seed": []}),
    "twice": lambda: lh.sweep(CELL, {"seed": [1, 1]}),
    "both": lambda: lh.sweep(CELL, {"seed": [1, 2]}, seed=3),
    "bad point": lambda: lh.sweep(CELL, {"cell.ap.cwmin": [7, -1]}),
    "objective": lambda: lh.tune(CELL, "fame"),
    "give_up": lambda: lh.tune(CELL, give_up=2.0),
    "confirm": lambda: lh.tune(CELL, confirm=0),
    "category": lambda: lh.tune(CELL, category="video"),
    "nothing to tune": lambda: lh.tune(ROUTER),
    "no emulation": lambda: lh.emulate(CELL, settings={"duration": "2 h"}),
    "uplink": lambda: lh.emulate(CELL, uplink="eth0"),
    "capture of no cell": lambda: lh.emulate(ROUTER, pcapng="x.pcapng"),
    "relays": lambda: lh.emulate(CELL, relays=True),
    "follow": lambda: check_followed(["mood"]),
    "place": lambda: place_named(lh.check(CELL).typed, "moon"),
    "claim": lambda: lh.reproduce(["hotspit"]),
    "load": lambda: lh.load("nowhere"),
    "capture": lambda: lh.simulate(CELL, replications=1).save_capture("x.pcapng"),
    "no series": lambda: lh.simulate(CELL, replications=1).plot.series("cwnd_packets"),
    "track": lambda: lh.simulate(CELL, replications=1).track("a", "b", "c"),
    "picture": lambda: lh.compare(CELL, replications=1).save_figure("x.gif"),
    "graph": lambda: lh.simulate(CELL, replications=1).plot.conflicts(),
    "relay": lambda: lh.relay.Terms(rule="none"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", BAD)
def test_messages_in_python_contain_no_option_of_the_command_line(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as caught:
        BAD[case]()
    texts = [str(caught.value), caught.value.hint or "", *getattr(caught.value, "__notes__", ())]
    if isinstance(caught.value, lh.ScenarioError):
        texts += [problem.hint or "" for problem in caught.value.problems]
    assert [text for text in texts if CLI.search(text)] == []
    assert texts[0]
    assert list(tmp_path.iterdir()) == []


def test_words_of_the_command_line_are_recognised() -> None:
    for text in ("--set a=1", "try --no-txop", "on the command line", "lasthop emulate FILE"):
        assert CLI.search(text)
    for text in ("a--b", "max_time_s=3", "-1 is negative", "lasthop 0.1.0"):
        assert not CLI.search(text)


def test_a_setting_is_named_as_the_caller_wrote_it(lasthop: Lasthop, small: Path) -> None:
    with pytest.raises(lh.ScenarioError, match=r"^settings cell\.ap\.cwmin=-1: `cell\.ap\.cwmin`"):
        lh.simulate(small, settings={"cell.ap.cwmin": -1})
    with pytest.raises(lh.ScenarioError, match=r"^settings =1: not a path; expected names"):
        lh.Scenario(small, {"": 1})
    with pytest.raises(lh.ScenarioError, match=r"^seed=-1: `seed`"):
        lh.simulate(small, seed=-1)
    done = lasthop("simulate", small, "--set", "cell.ap.cwmin=-1")
    assert done.stderr.startswith("error: --set cell.ap.cwmin=-1: `cell.ap.cwmin`: -1 is negative")
    for command in (["tune", small, "--for", "delay"], ["compare", small], ["check", small]):
        done = lasthop(*command, "--set", "cell.ap.cwmin=-1")
        assert done.stderr.startswith("error: --set cell.ap.cwmin=-1: ")
        assert done.returncode == 2
    # The name of a file may begin like the name of a setting.
    odd = Path("settings x.toml")
    odd.write_text("duration = 1")
    assert lasthop("check", odd).stderr.startswith("error: settings x.toml:1: ")


def test_costly_computations_are_allowed_by_argument_or_option() -> None:
    with allowing(max_time_s=1.0), pytest.raises(UserError) as caught:
        need("it", time_s=100.0)
    assert caught.value.hint == "max_time_s=120 allows it"
    assert hint_in_options(caught.value.hint) == "--max-time 2min allows it"
    for seconds in (1.0, 20.0, 50.0, 120.0, 3600.0, 7200.0, 172_800.0):
        text = written(seconds, TIMES)
        scale = {unit: size for size, unit in TIMES}[re.sub(r"\d+", "", text)]
        assert int(re.sub(r"\D+", "", text)) * scale == seconds


def test_a_search_for_calls_that_takes_too_long_names_a_shorter_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stopwatch, "LONGEST_S", 1e-9)
    with pytest.raises(UserError, match="counting calls would take") as caught:
        lh.tune(CELL, "calls", replications=1)
    hint = caught.value.hint or ""
    assert not CLI.search(hint)
    assert hint.startswith("shorten it by txop=False, pifs=False")
    assert (hint_in_options(hint) or "").startswith("shorten it by --no-txop, --no-pifs, a shorter")


def test_other_arguments_become_options() -> None:
    assert message_in_options("uplink='eth0': it is down") == "--uplink eth0: it is down"
    assert message_in_options("a uplink='eth0': it") == "a uplink='eth0': it"
    assert hint_in_options("places: a, b") == "lasthop emulate FILE --places: a, b"
    assert hint_in_options(None) is None
    assert source_in_options("settings a=1", "a") == "--set a=1"
    assert source_in_options("settings a=1", None) == "settings a=1"


def test_a_hint_is_a_note_below_the_traceback() -> None:
    with pytest.raises(lh.UserError) as caught:
        lh.sweep(CELL, {})
    assert caught.value.__notes__ == [f"hint: {caught.value.hint}"]
    with pytest.raises(lh.ScenarioError) as refused:
        lh.Scenario(SMALL.replace("upload = 2", "uplaod = 2"))
    assert refused.value.__notes__ == ["hint: did you mean `upload`?"]
