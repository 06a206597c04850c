"""What-if questions: cases, columns, verdicts and files. Verdicts about cases without a difference
are correct.
"""

import json
import pickle
import random
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.answers.calls import DELAY_P99_S, LOSS, Call
from lasthop.answers.estimates import Estimate
from lasthop.batch.paired import Measure
from lasthop.display.what_if import COMMON, conclusion, difference_rows, legend, value_rows
from lasthop.errors import ScenarioError, UserError
from lasthop.whatif.cases import Case, case_of_text, cases_of, cases_of_file
from lasthop.whatif.what_if import Run

from .conftest import CALL, Lasthop

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


def test_each_case_has_verdicts(asked: lh.WhatIf) -> None:
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
        '"AP": identical in every replication: this setting never acted in these runs',
        '"no change": no change: its settings are those of the scenario as it is',
        '"two": only this case has laptop/up/2',
        'wire.queue sets the queue at both ends of the line: "fq", "CoDel"',
    ]


def test_a_sum_is_over_the_stations_of_all_cases() -> None:
    tree = {"cell": {"phy": "802.11g"}, "duration": "2 s", "replications": 2}
    stations = {"near": {"download": 2}, "far": {"download": 1}, "phone": {"download": 1}}
    cases = {"without far": {"station.far.download": 0}, "more": {"station.near.download": 3}}
    answer = lh.what_if({**tree, "station": stations}, cases)
    column = "flows.goodput_bps of common downloads"
    for case in cases:
        flows = answer.results[case].flows.goodput_bps
        others = flows[~flows.index.str.startswith("far")]
        assert answer.frame.loc[case, column] == pytest.approx(others.sum())


def test_users_of_csma_are_compared() -> None:
    shorter = {"duration": "2 s", "warmup": "0.5 s", "replications": 2}
    cases = {"legacy": {"csma.access": "legacy"}}
    answer = lh.what_if(
        Path(__file__).parents[2] / "examples" / "csma.toml", cases, settings=shorter
    )
    assert "flows.goodput_bps of all flows" in answer.frame


def test_frames_have_means_and_differences(asked: lh.WhatIf) -> None:
    result = lh.simulate(CALL, replications=10, settings=CASES["fq"])
    delay = result.flows.loc["phone/udp-up/1", "one_way_delay_p99_s"]
    assert asked.frame.loc["fq", DELAY] == pytest.approx(delay)
    two = asked.results["two"].cells.loc["cell", "goodput_bps"]
    phone = asked.results["two"].flows.loc["phone/udp-up/1", "goodput_bps"]
    assert asked.frame.loc["two", UPLOADS] == pytest.approx(two - phone)  # with the new flow
    table = asked.differences.set_index(["case", "quantity"])
    row = table.loc["fq", "one_way_delay_p99_s"]
    assert row["difference"] == pytest.approx(row["value"] - row["as_it_is"])
    assert row["half"] > row["ci95"] > 0.0


@pytest.mark.parametrize("way", ["folder", "json", "pickle"])
def test_a_what_if_is_saved_and_loaded(asked: lh.WhatIf, tmp_path: Path, way: str) -> None:
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
    for part in (
        "<table",
        "<img",
        "Lowest delay (99 % within) of phone/udp-up/1: &quot;fq&quot;.",
        "<b>a call</b>",
    ):
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
    read_case = case_of_text(text)
    assert (read_case.name, read_case.settings) == (
        "a b",
        (("wire.queue", "{limit=20}"), ("name", '"x; y: z"')),
    )


BAD = {
    "wire.queue=3": "the name is missing",
    ": wire.queue=3": "the name is empty",
    "fq": "the name is missing",
    "fq:": "no settings",
    "fq: wire.queue": '"wire.queue" is not a setting',
    "fq: wire.queue=": '"wire.queue=" is not a setting',
    "fq: wire.queue={": "a brace or bracket is not closed",
    "fq: wire.queue=3; wire.queue=4": "wire.queue is given twice",
    f"{'x' * 61}: wire.queue=3": "a name of 61 characters: expected at most 60",
    "as it is: wire.queue=3": "the name of the scenario itself",
    "fq: replications=3": "replications must be the same in all cases",
    "fq: seed=9": "seed must be the same in all cases: expected --seed for all",
    "fq: duration=9 s": "duration must be the same in all cases",
    "fq: warmup=0 s": "warmup must be the same in all cases",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_cases_are_refused_with_their_name(text: str) -> None:
    with pytest.raises(UserError, match=r"^--case") as refused:
        case_of_text(text)
    assert BAD[text] in str(refused.value)


BAD_FILES = {
    "": "no case: expected [case.fq] with lines such as",
    "[case.fq": "not TOML: ",
    "duration = 3": ":1: duration is not a case",
    "[[case]]\nname = 'fq'": ":1: case is not a case",
    "case.fq = 3": ":1: case.fq is not a case",
    "[case.fq]": 'case "fq": no settings',
    "# two\n[[case.fq]]\nwire.queue = 3": ":2: [[case.fq]] is an array of tables",
    "[case.fq]\nname = 2020-01-01": ":2: 2020-01-01 is not the value of a setting",
}


DAMAGES: dict[str, Any] = {
    "values of a case": lambda tree: tree["cases"][1]["values"][0].pop(),
    "NaN": lambda tree: tree["cases"][1]["values"][0].__setitem__(0, float("nan")),
    "Infinity": lambda tree: tree["cases"][1]["values"][0].__setitem__(0, float("inf")),
    "a case twice": lambda tree: tree["cases"].append(tree["cases"][1]),
    "quantity": lambda tree: tree["measures"][0].update(quantity="goodness"),
}


@pytest.mark.parametrize("part", DAMAGES)
def test_a_damaged_file_is_refused(asked: lh.WhatIf, part: str, tmp_path: Path) -> None:
    tree = asked.to_dict()
    DAMAGES[part](tree)
    path = tmp_path / "what-if.json"
    path.write_text(json.dumps(tree))
    with pytest.raises(UserError, match=f"^{path}: a damaged what-if: [^\n]+$"):
        lh.load(path)


def test_a_foreign_file_of_progress_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    path.write_text("precious")
    with pytest.raises(UserError, match=f"^{path}: exists and is not a result of lasthop"):
        lh.what_if(CALL, {"fq": CASES["fq"]}, directory=tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["progress.json"]
    assert path.read_text() == "precious"


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
        lh.what_if(CALL, [Case("a", (("name", "x"),)), Case("a", (("name", "y"),))])
    with pytest.raises(UserError, match="replications=1: differences need an interval"):
        lh.what_if(CALL, CASES, replications=1)
    with pytest.raises(UserError, match="expected settings by name"):
        lh.what_if(CALL, "fq")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="has no settings by path"):
        lh.what_if(CALL, {"fq": 3})  # type: ignore[dict-item]


def test_the_command_prints_a_conclusion_and_reuses_finished_runs(
    lasthop: Lasthop, tmp_path: Path
) -> None:
    phone = CALL["station"]["phone"]
    both = {**CALL["station"], "phone": {**phone, "udp_down": phone["udp_up"]}}
    Path("call.json").write_text(json.dumps({**CALL, "station": both}))
    args = ["what-if", "call.json", "--case", "fq: wire.queue.fq_codel={}", "--out", "out"]
    done = lasthop(*args)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "a call: 1 case compared with the scenario as it is"
    assert lines[1].startswith("10 x 3 s per case, first 1 s cut, seed 1;")
    assert lines[2] == 'Best for the calls: "fq" (all good).'
    rows = [line.split() for line in lines if line.startswith(("as it is ", "fq "))]
    assert [rows[0][3], rows[1][1]] == ["bad:", "good"]
    parts = sorted(Path("out", "parts").iterdir())
    again = lasthop(*args, "--json")
    assert sorted(Path("out", "parts").iterdir()) == parts
    assert again.stdout == Path("out", "what-if.json").read_text()
    few = lasthop(*args[:4], "--replications", "3").stdout
    assert few.splitlines()[1].startswith("3 x 3 s per case")
    refused = lasthop("what-if", "call.json", "--case", "fq: wire.quee=3")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith('error: --case "fq": wire.quee=3: `wire.quee`: unknown key')


def a_run(name: str, late_s: float, lost: float, goodput_bps: float) -> Run:
    """Return three replications of a call in one direction, and of downloads that hardly vary."""
    verdict = "good" if lost < LOSS and late_s < DELAY_P99_S else "bad"
    call = Call("phone", "down", ("c",), Estimate(late_s, 0.0), Estimate(lost, 0.0), verdict)
    values = {
        measure.key: [value * factor for factor in (1.0, 1.0001, 0.9998)]
        for measure, value in zip(OF_CALL, (late_s, lost, goodput_bps), strict=True)
    }
    return Run(Case(name, ()), values, is_random=True, calls=(call,))


OF_CALL = (
    Measure("flows", "one_way_delay_p99_s", ("c",), "max", "phone's call"),
    Measure("flows", "loss_probability", ("c",), "max", "phone's call"),
    Measure("flows", "goodput_bps", ("d",), "sum", "all downloads"),
)


def test_a_longer_delay_that_is_good_is_better_than_a_short_one_with_losses() -> None:
    base, short = a_run("as it is", 0.03, 0.02, 5e8), a_run("short", 0.01, 0.04, 3e8)
    runs = [base, short, a_run("fq", 0.04, 0.0, 4e8), a_run("mac", 0.09, 0.0, 7e8)]
    answer = lh.WhatIf(lh.check(CALL), OF_CALL, runs)
    assert list(conclusion(answer)) == [
        'Best for the calls: "fq", "mac" (all good). Most goodput of all downloads: "mac".',
        'Worse than the scenario as it is: goodput of all downloads with "fq".',
        '"mac" has all of these advantages, and nothing gets worse beyond the noise; the delay of '
        "phone's call is longer, but good.",
    ]
    assert [row[1] for row in value_rows(answer)] == ["bad: loss"] * 2 + ["good"] * 2
    assert [change.case for change in answer.changes if change.is_best] == ["fq", "mac", "mac"]
    words = [row[2] for row in difference_rows(answer)]
    assert words[:4] == ["better, but not good", "worse", "worse", "longer, but good"]
    bad = lh.WhatIf(lh.check(CALL), OF_CALL, runs[:2])
    assert list(conclusion(bad)) == [
        "No case is better than the scenario as it is beyond the noise."
    ]


def a_run_of_downloads(name: str, rtt_s: float, goodput_bps: float) -> Run:
    """Return three replications of downloads that hardly vary."""
    values = {
        measure.key: [value * factor for factor in (1.0, 1.0001, 0.9998)]
        for measure, value in zip(OF_DOWNLOADS, (rtt_s, goodput_bps), strict=True)
    }
    return Run(Case(name, ()), values, is_random=True)


OF_DOWNLOADS = (
    Measure("flows", "rtt_s", ("d",), "mean", "TCP flows"),
    Measure("flows", "goodput_bps", ("d",), "sum", "common downloads"),
)


def test_the_conclusion_says_what_gets_worse_with_a_case_that_is_only_second_best() -> None:
    """The case `equal` is better than the scenario as it is, but not as good as `without`. The
    conclusion names its longer RTT all the same. A case without any advantage is left out.
    """
    runs = [
        a_run_of_downloads("as it is", 0.043, 2.6e8),
        a_run_of_downloads("without", 0.043, 4.9e8),
        a_run_of_downloads("equal", 0.058, 3.6e8),
        a_run_of_downloads("bad", 0.09, 2e8),
    ]
    answer = lh.WhatIf(lh.check(CALL), OF_DOWNLOADS, runs)
    assert list(conclusion(answer)) == [
        'Most goodput of common downloads (of the stations that all cases have): "without".',
        'Worse than the scenario as it is: RTT of TCP flows with "equal".',
    ]
    assert legend(answer).startswith("* best")
    assert COMMON not in legend(answer)
    same = lh.WhatIf(lh.check(CALL), OF_DOWNLOADS, [runs[0], replace(runs[0], case=Case("b", ()))])
    assert legend(same) == "common downloads: those of the stations that all cases have"


def test_the_limit_of_a_good_call_is_drawn_above_the_grid() -> None:
    runs = [a_run("as it is", 0.3, 0.02, 5e8), a_run("fq", 0.1, 0.005, 5e8)]
    for axes in lh.WhatIf(lh.check(CALL), OF_CALL, runs).plot().axes[:2]:
        [limit] = [line for line in axes.lines if line.get_linestyle() == "--"]
        assert limit.get_zorder() > axes.xaxis.get_zorder()


def test_a_case_that_leaves_the_calls_bad_is_not_advice() -> None:
    runs = [a_run("as it is", 0.3, 0.02, 5e8), a_run("line x2", 0.2, 0.015, 5e8)]
    [first, *_] = conclusion(lh.WhatIf(lh.check(CALL), OF_CALL, runs))
    assert first.startswith(
        'No case makes all calls good; "line x2" improves them most (0 of 1 directions good).'
    )


def test_the_best_cases_are_each_better_than_all_others_in_any_order() -> None:
    """The case fq is better than pie. The case codel equals fq, but is too noisy to be better than
    pie.
    """
    goodputs = {
        "fq": (9.0, 9.001, 9.003),
        "codel": (9.0, 9.002, 9.001),
        "pie": (8.0, 8.001, 8.0015),
    }
    noisy = {**goodputs, "codel": (8.7, 8.9, 9.0)}
    for values, is_best in ((goodputs, True), (noisy, False)):
        for order in permutations(values):
            runs = [
                Run(
                    Case(name, ()),
                    {OF_CALL[2].key: [1e6 * value for value in mbps]},
                    is_random=True,
                )
                for name, mbps in {"as it is": (1.0, 1.001, 1.002), **values}.items()
            ]
            runs[1:] = sorted(runs[1:], key=lambda run: order.index(run.case.name))
            [advice] = lh.WhatIf(lh.check(CALL), OF_CALL[2:], runs).advice
            assert (set(advice.cases), advice.is_best) == ({"fq", "codel"}, is_best)


def test_good_calls_need_no_case() -> None:
    base, other = a_run("as it is", 0.03, 0.0, 5e8), a_run("none", 0.03, 0.02, 5e8)
    answer = lh.WhatIf(lh.check(CALL), OF_CALL, [base, other])
    assert next(conclusion(answer)) == 'The calls are good as it is, bad with "none".'


def equal_cases(draw: random.Random) -> tuple[dict[str, Any], list[Case]]:
    """Return a random cell, and cases whose results have the same distribution."""
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
    cases = cases_of(
        {
            "permuted": {"station": {name: stations[name] for name in names}},
            "buffer that never fills": {"cell.ap_queue": 600},
        }
    )
    # The last case is created directly, because `cases_of` does not let users set a seed.
    return scenario, [*cases, Case("other streams", (("seed", str(draw.randint(2, 1000))),))]


@pytest.mark.slow
def test_equal_cases_are_hardly_ever_declared_different() -> None:
    draw = random.Random(9)
    declared = 0
    for _ in range(20):
        answer = lh.what_if(*equal_cases(draw))
        declared += any(each.difference.is_beyond for each in answer.changes)
    assert declared <= 1
