"""What-if questions: cases, columns, verdicts, files, and honesty about equal cases."""

import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.errors import ScenarioError, UserError
from lasthop.whatif.cases import Case, case_of_text, cases_of_file

from .conftest import Lasthop

CALL: dict[str, Any] = {
    "name": "a call",
    "duration": "3 s",
    "warmup": "1 s",
    "replications": 2,
    "tcp": {"congestion": "cubic", "window": 1000},
    "cell": {"phy": "802.11g"},
    "wire": {"rate": "8 Mbps", "delay": "10 ms", "queue": 100},
    "station": {
        "laptop": {"upload": 1},
        "phone": {"udp_up": {"rate": "100 kbps", "packet": "200 B"}},
    },
}
CASES: dict[str, dict[str, Any]] = {
    "fq": {"wire.queue.fq_codel": {}},
    "CoDel": {"wire.queue.codel": {}, "tcp.congestion": "newreno"},
    "AP": {"cell.ap_queue": 5000},
    "no change": {"wire.rate": "8000 kbps"},
    "two": {"station.laptop.upload": 2},
}
DELAY, UPLOADS = "flows.one_way_delay_p99_s of phone/udp-up/1", "flows.goodput_bps of all uploads"


@pytest.fixture(scope="module")
def asked() -> lh.WhatIf:
    return lh.what_if(CALL, CASES)


def test_verdicts_of_each_case(asked: lh.WhatIf) -> None:
    verdicts = {
        (each.case, each.measure.key): (each.difference.verdict, each.is_best)
        for each in asked.changes
    }
    assert verdicts["fq", DELAY] == ("better", True)
    assert verdicts["CoDel", DELAY] == ("better", False)
    assert verdicts["AP", DELAY] == ("identical", False)
    assert verdicts["no change", UPLOADS] == ("identical", False)
    assert (asked.replications, asked.comparisons) == (10, 5 * 3)
    assert [run.is_unchanged for run in asked.runs] == [False, False, False, False, True, False]
    assert asked.notes == [
        "no change: no change: its settings make the scenario as it is",
        "two: only this case has laptop/up/2: columns of single items leave them out",
    ]


def test_frames_have_means_and_differences(asked: lh.WhatIf) -> None:
    result = lh.simulate(CALL, replications=10, settings=CASES["fq"])
    delay = result.flows.loc["phone/udp-up/1", "one_way_delay_p99_s"]
    assert asked.frame.loc["fq", DELAY] == pytest.approx(delay)
    two = asked.results["two"].cells.loc["cell", "goodput_bps"]
    phone = asked.results["two"].flows.loc["phone/udp-up/1", "goodput_bps"]
    assert asked.frame.loc["two", UPLOADS] == pytest.approx(two - phone)  # with its new flow
    table = asked.differences.set_index(["case", "quantity"])
    row = table.loc["fq", "one_way_delay_p99_s"]
    assert row["difference"] == pytest.approx(row["value"] - row["as_it_is"])
    assert row["half"] > row["ci95"] > 0.0


@pytest.mark.parametrize("way", ["folder", "json", "pickle"])
def test_a_what_if_travels(asked: lh.WhatIf, tmp_path: Path, way: str) -> None:
    if way == "folder":
        asked.save(tmp_path)
        again: Any = lh.load(tmp_path)
    elif way == "json":
        (tmp_path / "a.json").write_text(asked.to_json())
        again = lh.load(tmp_path / "a.json")
    else:
        again = pickle.loads(pickle.dumps(asked))
    assert again == asked
    assert again.changes == asked.changes
    assert repr(again).startswith("WhatIf('a call': 5 cases)\n  fq: 2 better, 1 same\n")
    if way != "pickle":
        with pytest.raises(UserError, match="not saved"):
            _ = again.results


def test_a_picture_has_a_panel_for_each_quantity(asked: lh.WhatIf) -> None:
    some = lh.WhatIf(asked.scenario, asked.measures[1:], asked.runs[:3])
    panels = some.plot().axes
    assert [axes.get_xlabel() for axes in panels] == ["loss [%]", "goodput [Mb/s]"]
    names = [tick.get_text() for tick in panels[0].get_yticklabels()]
    assert names == ["as it is", "fq", "CoDel"]


def test_a_notebook_shows_tables_and_verdicts(asked: lh.WhatIf) -> None:
    page = lh.WhatIf(asked.scenario, asked.measures[:1], asked.runs[:2])._repr_html_()
    for part in ("<table", "<img", "  better: phone/udp-up/1 delay", "<b>a call</b>"):
        assert part in page


def test_a_file_sets_the_same_values_as_options(tmp_path: Path) -> None:
    path = tmp_path / "cases.toml"
    path.write_text(
        "# cases\n[case.fq]\nwire.queue = { limit = 20 } # a table\n\n"
        '[case."two settings".tcp]\ncongestion = "reno"\nwindow =\\\n'.replace("\\\n", " 7\n")
        + '[case."two settings"]\n"wire.queue.codel" = {}\n'
    )
    assert [(case.name, case.settings) for case in cases_of_file(path)] == [
        ("fq", (("wire.queue", "{limit = 20}"),)),
        (
            "two settings",
            (("tcp.congestion", "reno"), ("tcp.window", "7"), ("wire.queue.codel", "{}")),
        ),
    ]
    text = 'a b: wire.queue={limit=20}; name="x; y: z" ;'
    found = case_of_text(text)
    assert (found.name, found.settings) == (
        "a b",
        (("wire.queue", "{limit=20}"), ("name", '"x; y: z"')),
    )


BAD = {
    "wire.queue=3": "the name is missing",
    ": wire.queue=3": "the name is empty",
    "fq": "the name is missing",
    "fq:": "no settings",
    "fq: wire.queue": '"wire.queue" is no setting',
    "fq: wire.queue=": '"wire.queue=" is no setting',
    "fq: wire.queue={": "a brace or bracket is not closed",
    "fq: wire.queue=3; wire.queue=4": "wire.queue is given twice",
    f"{'x' * 61}: wire.queue=3": "a name of 61 characters: expected at most 60",
    "as it is: wire.queue=3": "the name of the scenario itself",
    "fq: replications=3": "replications must be the same in all cases",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_cases_are_refused_with_their_name(text: str) -> None:
    with pytest.raises(UserError, match=r"^--case") as refused:
        case_of_text(text)
    assert BAD[text] in str(refused.value)


BAD_FILES = {
    "": "no case: expected [case.fq] with lines such as",
    "[case.fq": "not TOML: ",
    "duration = 3": ":1: duration is no case",
    "[[case]]\nname = 'fq'": ":1: case is no case",
    "case.fq = 3": ":1: case.fq is no case",
    "[case.fq]": 'case "fq": no settings',
    "[case.fq]\nname = 2020-01-01": ":2: 2020-01-01 is no value of a setting",
}


@pytest.mark.parametrize("text", BAD_FILES)
def test_bad_files_of_cases_are_refused_at_their_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=f"^--cases {path}") as refused:
        cases_of_file(path)
    assert BAD_FILES[text] in str(refused.value)


def test_bad_questions_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r'case "a": wire\.quee=3: `wire\.quee`: unknown key'):
        lh.what_if(CALL, {"a": {"wire.quee": 3}})
    with pytest.raises(UserError, match="no case to compare"):
        lh.what_if(CALL, {})
    with pytest.raises(UserError, match='case "a": given twice'):
        lh.what_if(CALL, [Case("a", (("seed", "2"),)), Case("a", (("seed", "3"),))])
    with pytest.raises(UserError, match="replications=1: differences need an interval"):
        lh.what_if(CALL, CASES, replications=1)
    with pytest.raises(UserError, match="expected settings by name"):
        lh.what_if(CALL, "fq")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="has no settings by path"):
        lh.what_if(CALL, {"fq": 3})  # type: ignore[dict-item]


def test_the_command_prints_verdicts_and_reuses_finished_runs(
    lasthop: Lasthop, tmp_path: Path
) -> None:
    import json

    Path("call.json").write_text(json.dumps(CALL))
    args = ["what-if", "call.json", "--case", "fq: wire.queue.fq_codel={}", "--out", "out"]
    done = lasthop(*args)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "a call: 1 case against as it is"
    assert lines[1].startswith("10 x 3 s per case, first 1 s cut, seed 1;")
    assert any(line.startswith("  better: phone/udp-up/1 delay (99 % within) ") for line in lines)
    parts = sorted(Path("out", "parts").iterdir())
    again = lasthop(*args, "--json")
    assert sorted(Path("out", "parts").iterdir()) == parts
    assert again.stdout == Path("out", "what-if.json").read_text()
    few = lasthop(*args[:4], "--replications", "3").stdout
    assert few.splitlines()[1].startswith("3 x 3 s per case")
    refused = lasthop("what-if", "call.json", "--case", "fq: wire.quee=3")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith('error: --case "fq": wire.quee=3: `wire.quee`: unknown key')


def equal_cases(draw: random.Random) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """A random cell, and cases that are equal in distribution."""
    kinds: list[dict[str, Any]] = [
        {"upload": 2},
        {"download": 1},
        {"udp_up": {"rate": "100 kbps", "packet": "200 B"}},
    ]
    stations = {f"station-{k}": draw.choice(kinds) for k in range(draw.randint(2, 6))}
    scenario = {
        "duration": "6 s",
        "warmup": "2 s",
        "cell": {
            "phy": draw.choice(["802.11b", "802.11g", "802.11n", "802.11ax"]),
            "ap_queue": 500,
        },
        "station": stations,
    }
    names = list(stations)
    draw.shuffle(names)
    return scenario, {
        "permuted": {"station": {name: stations[name] for name in names}},
        "other streams": {"seed": draw.randint(2, 1000)},
        "buffer that never fills": {"cell.ap_queue": 600},
    }


@pytest.mark.slow
def test_equal_cases_are_hardly_ever_declared_different() -> None:
    draw = random.Random(9)
    declared = 0
    for _ in range(20):
        found = lh.what_if(*equal_cases(draw))
        declared += any(each.difference.is_beyond for each in found.changes)
    assert declared <= 1
