"""Display of objects: text at a prompt, tables, and a picture in a notebook."""

import re
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.emulation import Emulation

from .conftest import EXAMPLES, SMALL

SHORT = {"duration": "4 s", "warmup": "1 s"}
EVIL = "<script>alert('x')</script> & \"b\""
ALONE = {"meta", "img", "br", "hr"}


class Page(HTMLParser):
    """Parser of the contents of a piece of HTML. Tags that do not match are an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ALONE:
            self._open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("td", "th"):
            self.cells[-1] += data


@pytest.fixture(scope="module")
def results() -> dict[str, lh.Result]:
    """Return results of a cell, of a router and of a conflict graph."""
    names = {"cell": "hotspot", "router": "dumbbell", "graph": "csma-hidden"}
    return {
        kind: lh.simulate(EXAMPLES / f"{name}.toml", settings=SHORT, replications=2)
        for kind, name in names.items()
    }


@pytest.fixture(scope="module")
def shown(results: dict[str, lh.Result]) -> dict[str, Any]:
    """Return one object of each kind that a notebook displays, by the name of the kind."""
    cell = results["cell"]
    comparison = lh.compare(EXAMPLES / "hotspot.toml", settings=SHORT, replications=2)
    tree = {"cell": {"phy": "802.11b", "cwmax": 63}, "station": {"reader": {"download": 1}}}
    tuning = lh.tune({"duration": "2 s", "replications": 2, **tree}, pifs=False, txop=False)
    return {
        **results,
        "prediction": lh.predict(EXAMPLES / "hotspot.toml"),
        "stability": lh.predict(EXAMPLES / "dumbbell.toml"),
        "emulation": Emulation({**cell.summary, "kind": "emulation"}, cell.scenario),
        "comparison": comparison,
        "refused": lh.compare(SMALL, settings={"wire.loss": 0.1}, replications=2),
        "sweep": lh.sweep(SMALL, {"cell.ap.cwmin": [7, 31], "seed": [1, 2]}, replications=1),
        "tuning": tuning,
        "scenario": cell.scenario,
        "network": results["router"].scenario,
        "csma": results["graph"].scenario,
    }


EXPECTED = {
    "cell": [
        r"Result\('one uploader, four downloaders': 2 x 4 s, seed 1\)",
        r"  goodput [\d.]+ ± [\d.]+ Mb/s, Jain's index [\d.]+ ± [\d.]+, up/down .+",
        r"  most: uploader [\d.]+ ± [\d.]+ Mb/s; least: others-\d [\d.]+ ± [\d.]+ Mb/s",
        r"  longest queue: (ap|uploader) \d+ ± \d+ packets",
    ],
    "router": [
        r"Result\('sixty flows through a short queue': 2 x 4 s, seed 1\)",
        r"  goodput [\d.]+ ± [\d.]+ Mb/s, Jain's index .+",
        r"  most: flow-\d+ .+ Mb/s; least: flow-\d+ .+ Mb/s",
        r"  link bottleneck: utilisation .+ %, mean queue .+ packets",
    ],
    "graph": [
        r"Result\('a sender that nobody hears': 2 x 4 s, seed 1\)",
        r"  goodput [\d.]+ Mb/s in sum",
        r"  most: a .+ Mb/s; least: c .+ Mb/s",
        r"  link a-base: air time .+ %, mean queue .+ packets",
    ],
    "prediction": [
        r"Prediction\('one uploader, four downloaders': model hotspot\)",
        r"  Jain's index [\d.]+, up/down [\d.]+",
        r"  most: uploader [\d.]+ %; least: others-\d [\d.]+ %",
        r"  longest queue: uploader [\d.]+ packets",
    ],
    "stability": [
        r"Prediction\('sixty flows through a short queue': model red\)",
        r"  goodput [\d.]+ Mb/s",
        r"  each of 60 gets [\d.]+ Mb/s",
        r"  queue bottleneck: equilibrium stable, period [\d.]+ s",
    ],
    "emulation": [r"Emulation\('one uploader, four downloaders': 2 x 4 s in real time\)"],
    "comparison": [
        r"Comparison\('one uploader, four downloaders': predicted by hotspot, simulated\)",
        r"  goodput .+",
        r"  most: .+",
        r"  of shares furthest from the model: share of \S+, off by [+-][\d.]+ %",
    ],
    "refused": [
        r"Comparison\('two downloaders': simulated, no prediction\)",
        r"  the scenario breaks the assumption that the wired part loses nothing .*",
    ],
    "sweep": [
        r"Sweep\('two downloaders': 4 points\)",
        r"  cell.ap.cwmin: 7, 31",
        r"  seed: 1, 2",
    ],
    "tuning": [r"Tuning\('scenario' for throughput: .+\)", r"  cell\.cwmin=\d+.*"],
    "scenario": [
        r"Scenario\('.*hotspot.toml': 'one uploader, four downloaders'\)",
        r"  2 x 4 s, first 1 s cut, seed 1, 3 values replaced",
        r"  802.11b cell: 5 stations, 10 flows, AP's queue of 75 packets \(drop-tail\)",
    ],
    "network": [
        r"Scenario\('.*dumbbell.toml': 'sixty flows through a short queue'\)",
        r"  2 x 4 s, .+",
        r"  network: 60 flows over bottleneck 100.0 Mb/s, 15 packets \(drop-tail\)",
    ],
    "csma": [
        r"Scenario\('.*csma-hidden.toml': 'a sender that nobody hears'\)",
        r"  2 x 4 s, .+",
        r"  conflict graph, \w+ access: 2 links, 2 flows",
    ],
}


@pytest.mark.parametrize("kind", EXPECTED)
def test_an_object_prints_its_main_numbers_in_four_lines(shown: dict[str, Any], kind: str) -> None:
    lines = repr(shown[kind]).splitlines()
    assert len(lines) <= 4
    assert max(map(len, lines)) <= 110
    for line, pattern in zip(lines, EXPECTED[kind], strict=False):
        assert re.fullmatch(pattern, line), (line, pattern)
    assert len(lines) >= len(EXPECTED[kind])


@pytest.mark.parametrize("kind", EXPECTED)
def test_an_object_is_a_table_and_a_picture_in_a_notebook(shown: dict[str, Any], kind: str) -> None:
    html = shown[kind]._repr_html_()
    page = Page(html)
    assert page.tags[0] == "div"
    assert "table" in page.tags
    assert "nan" not in " ".join(page.cells).lower()
    assert "None" not in page.cells
    pictures = [value for name, value in page.attributes if name == "src"]
    has_picture = kind not in ("scenario", "network", "csma")
    assert len(pictures) == has_picture
    for source in pictures:
        head, _, data = source.partition(",")
        assert head == "data:image/png;base64"
        assert b64decode(data).startswith(b"\x89PNG")
        assert len(data) < 400_000
    # Tables must inherit their colours, so that they are legible on dark pages.
    # Only a picture sets a colour: its white background.
    styles = [value for name, value in page.attributes if name == "style"]
    colours = [
        colour for each in styles for colour in re.findall(r"(?:color|background):([^;]+)", each)
    ]
    assert set(colours) <= {"inherit", "#fff"}


def test_intervals_and_missing_values_are_in_the_table() -> None:
    result = lh.simulate(SMALL, replications=3)
    cells = Page(result._repr_html_()).cells
    assert any(re.fullmatch(r"[\d.]+ ± [\d.]+", cell) for cell in cells)
    alone = lh.compare(SMALL, replications=1)
    assert "-" in Page(alone._repr_html_()).cells  # the model predicts no goodput


def test_the_chosen_setting_of_a_search_stands_out(shown: dict[str, Any]) -> None:
    html = shown["tuning"]._repr_html_()
    bold = re.findall(r'font-weight:bold">([^<]*)</td>', html)
    assert bold[0] == shown["tuning"].chosen.name


def test_a_long_table_is_cut_and_says_so() -> None:
    many = SMALL.replace("[station.near]", "[station.near]\ncount = 30")
    html = lh.simulate(many, replications=1)._repr_html_()
    assert "... and 19 more" in html
    assert html.count("near-") < 100


def names(evil: str) -> Iterator[Any]:
    """Yield objects about a scenario whose name is `evil`."""
    scenario = lh.Scenario(SMALL, {"name": evil})
    yield scenario
    yield lh.simulate(scenario, replications=1)
    yield lh.compare(scenario, replications=1)
    yield lh.sweep(scenario, {"seed": [1]}, replications=1)


def test_names_are_escaped() -> None:
    for answer in names(EVIL):
        html = answer._repr_html_()
        assert "<script" not in html
        assert "&lt;script&gt;" in html
        page = Page(html)
        assert "script" not in page.tags
    summary = lh.simulate(SMALL, replications=1).to_dict()
    summary["stations"][0]["name"] = EVIL
    assert "<script" not in lh.Prediction(summary | {"model": EVIL}, None)._repr_html_()


def test_a_name_with_dollars_is_not_a_formula() -> None:
    result = lh.simulate(SMALL, settings={"name": r"a $\nothing{$ b"}, replications=1)
    html = result._repr_html_()
    assert "<table" in html
    assert "<img" in html


def test_without_matplotlib_and_pandas_there_is_only_the_table(tmp_path: Path) -> None:
    code = f"""
import sys
for name in ("matplotlib", "pandas"):
    sys.modules[name] = None
import lasthop as lh
result = lh.simulate({SMALL!r}, replications=2)
html = result._repr_html_()
assert "<table" in html and "<img" not in html
assert "goodput" in repr(result)
print("done")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr


def test_showing_a_few_lines_loads_no_heavy_package() -> None:
    code = f"""
import sys
import lasthop as lh
result = lh.simulate({SMALL!r}, replications=2)
print(repr(result), repr(result.scenario))
assert not {{"pandas", "matplotlib", "numpy"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
