"""Reports: their contents, what anonymous reports omit, and their size."""

import gzip
import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop import _core
from lasthop.report import report_of, template

from .conftest import Lasthop

TEMPLATE = """<!doctype html>
<meta name="generator" content="lasthop"><title>lasthop report</title>
<script id="data">@lasthop-report@</script>
"""

SCENARIO = """# secret comment
name = "Mrs. Smith's house"
duration = "2 s"
warmup = "1 s"
replications = 2
cell = { phy = "802.11b" }

[station.alice]
upload = 1

[station.up]  # a name that is also a direction
count = 2
download = 1
"""


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a template of the workbench, similar to that of `make workbench`."""
    (tmp_path / "report.template").write_text(TEMPLATE)
    monkeypatch.setattr(template, "FILE", tmp_path / "report.template")


def data_of(report: Path) -> dict[str, Any]:
    match = re.search(r'<script id="data">(.*)</script>', report.read_text())
    assert match is not None
    tree: dict[str, Any] = json.loads(gzip.decompress(b64decode(match[1])))
    return tree


@pytest.mark.usefixtures("built")
def test_a_report_has_result_scenario_and_origin(lasthop: Lasthop) -> None:
    Path("house.toml").write_text(SCENARIO)
    done = lasthop("simulate", "house.toml", "--report", "house.html", "--set", "seed=7")
    assert "report: house.html" in done.stdout
    tree = data_of(Path("house.html"))
    assert tree["command"] == "lasthop simulate house.toml --report house.html --set seed=7"
    assert (tree["version"], tree["seed"], tree["settings"]) == (_core.VERSION, 7, [["seed", "7"]])
    assert tree["text"] == SCENARIO
    [run] = tree["runs"]
    expected = lh.simulate("house.toml", settings={"seed": 7}, tails=True, series="0.004 s")
    assert run["answer"] == expected.summary
    assert run["scenario"] == expected.scenario.to_dict()
    assert run["series"] == expected.series_tree
    assert run["distributions"] == expected.distribution_list
    assert lasthop("simulate", "house.toml", "--report", "house.html").returncode == 0


@pytest.mark.usefixtures("built")
def test_an_anonymous_report_has_no_name_of_the_user(lasthop: Lasthop) -> None:
    Path("house.toml").write_text(SCENARIO)
    options = ("--report", "house.html", "--anonymise", "--set", "station.alice.upload=2")
    lasthop("simulate", "house.toml", *options)
    tree = data_of(Path("house.html"))
    text = json.dumps(tree)
    for name in ("alice", "Smith", "secret", "house.toml"):
        assert name not in text
    [run] = tree["runs"]
    assert [item["name"] for item in run["answer"]["stations"]] == [
        "station-1",
        "station-2-1",
        "station-2-2",
    ]
    flows = run["answer"]["flows"]
    assert flows[0]["name"] == "station-1/up/1"
    assert flows[0]["direction"] == "up"
    again = lh.simulate(_written(tree["text"]), settings=dict(tree["settings"]))
    assert [item["name"] for item in again.summary["flows"]] == [item["name"] for item in flows]


@pytest.mark.usefixtures("built")
def test_an_anonymous_report_of_many_runs_has_no_name_of_the_user(lasthop: Lasthop) -> None:
    Path("house.toml").write_text(SCENARIO)
    over = "station.alice.upload=1,2"
    lasthop("sweep", "house.toml", "--over", over, "--report", "sweep.html", "--anonymise")
    case = "more: station.alice.upload=2"
    options = ("--replications", "2", "--report", "case.html", "--anonymise")
    lasthop("what-if", "house.toml", "--case", case, *options)
    for report in ("sweep.html", "case.html"):
        tree = data_of(Path(report))
        assert tree["tables"]
        text = json.dumps(tree)
        for name in ("alice", "Smith", "secret"):
            assert name not in text, report


def _written(text: str) -> Path:
    path = Path("again.toml")
    path.write_text(text)
    return path


@pytest.mark.usefixtures("built")
def test_a_large_report_loses_details_and_says_so(
    small_result: lh.Result, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    report = report_of(small_result)
    monkeypatch.setattr("lasthop.report.report.MAX_BYTES", 1)
    (tmp_path / "small.html").write_text(report.html())
    tree = data_of(tmp_path / "small.html")
    assert tree["runs"] == []
    assert any("The views are left out" in note for note in tree["notes"])


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--report", "house.txt"), "--report house.txt: expected a name that ends in .html"),
        (("--report", "theirs.html"), "theirs.html: exists and is not a report of lasthop"),
        (("--report", "nowhere/x.html"), "the directory nowhere does not exist"),
        (("--anonymise",), "--anonymise: must be given with --report FILE.html"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused(
    lasthop: Lasthop, small: Path, options: tuple[str, ...], message: str
) -> None:
    Path("theirs.html").write_text("<p>mine")
    done = lasthop("simulate", small, *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert Path("theirs.html").read_text() == "<p>mine"


def test_a_missing_template_is_named(
    lasthop: Lasthop, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(template, "FILE", Path("missing"))
    assert "make workbench" in lasthop("simulate", small, "--report", "x.html").stderr
