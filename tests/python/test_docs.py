"""The documentation is complete and agrees with the program."""

import json
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

import lasthop
import lasthop.learning
from lasthop import _core
from lasthop.cli.app import app
from lasthop.explanation.terms import glossary
from lasthop.studies import kept
from lasthop.studies.study import Study

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))

import beside  # noqa: E402
import downloads  # noqa: E402
import refresh  # noqa: E402
import scenario_pages  # noqa: E402
import transcripts  # noqa: E402

from . import pages_in_brief  # noqa: E402

REMEDY = "run `make docs-pages` and look at what changed"


def headings(page: str) -> set[str]:
    text = (DOCS / page).read_text("utf-8")
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {name for heading in titles for name in re.findall(r"`([^`]*)`", heading)}


@pytest.mark.parametrize("page", refresh.PAGES)
def test_generated_page_is_up_to_date(page: str) -> None:
    assert (ROOT / page).read_text("utf-8") == refresh.PAGES[page](), REMEDY


def test_verdicts_and_tables_of_pages_equal_those_of_the_stored_runs() -> None:
    pages = refresh.with_results()
    assert [p.name for p, text in pages.items() if p.read_text("utf-8") != text] == [], REMEDY


@pytest.mark.parametrize("study", beside.STUDIES, ids=lambda study: study.key)
def test_tables_next_to_claims_are_of_these_scenarios(study: Study) -> None:
    assert kept.changed_points(study, beside.read()) == [], "run `python docs/beside.py`"


def test_seven_downloads_are_of_these_settings() -> None:
    was = downloads.load()
    assert [point["cwmin"] for point in was["points"]] == list(downloads.CWMINS)
    assert was["replications"] == downloads.REPLICATIONS
    assert was["duration_s"] == downloads.DURATION_S


def test_a_page_without_a_place_for_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="its tables are"):
        refresh.tables.filled("validation.md", "no place")


def test_claims_list_emulations_with_machine_and_lateness() -> None:
    stored = refresh.two_classes_page.load()
    text = "\n".join(refresh.verdicts.emulated(stored))
    ours = [point for point in stored["points"] if point["source"] == "Linux"]
    assert len(ours) == 4
    assert all(f"| Linux, {point['rule']} | {point['runs']} | " in text for point in ours)
    assert all(point["on"] in text for point in ours)
    assert "vbs-2" in text
    assert "vbs-7" in text


def test_every_point_of_two_classes_is_on_its_page() -> None:
    stored = refresh.two_classes_page.load()["points"]
    page = (DOCS / "reference" / "two-classes.md").read_text("utf-8")
    hidden = [point for point in stored if refresh.two_classes_page.ratio(point) not in page]
    assert [(point["source"], point["rule"], point["min_rto_s"]) for point in hidden] == []


PAGES = [
    pytest.param(path, marks=pytest.mark.slow if path.name in pages_in_brief.LONG else ())
    for path in refresh.guides()
    if not refresh.rests_on_linear_algebra(path)
]


@pytest.mark.usefixtures("coarse_pictures")
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_of_a_page_print_the_shown_output(path: Path) -> None:
    page = path.read_text("utf-8")
    assert transcripts.refreshed(page) == page, REMEDY


ONLY_LONG_COMMANDS = {"bbr.md", "cake.md", "old-laptop.md", "reproduce.md"}
LONG_PAGES = [
    path
    for path in refresh.guides()
    if path.name in set(pages_in_brief.LONG) - ONLY_LONG_COMMANDS
    and not refresh.rests_on_linear_algebra(path)
]


@pytest.mark.usefixtures("coarse_pictures")
@pytest.mark.parametrize("path", LONG_PAGES, ids=lambda path: path.name)
def test_short_commands_of_a_long_page_print_the_shown_output(path: Path) -> None:
    assert pages_in_brief.refreshed(path) == path.read_text("utf-8"), REMEDY


def test_every_long_page_exists_and_has_its_long_commands() -> None:
    pages = {path.name: path.read_text("utf-8") for path in refresh.guides()}
    assert set(pages_in_brief.LONG) <= set(pages)
    for name, parts in pages_in_brief.LONG.items():
        assert [part for part in parts if part not in pages[name]] == [], name


def settings() -> set[str]:
    return set().union(
        *(headings(f"reference/scenario/{p.name}.md") for p in scenario_pages.pages())
    )


def test_every_setting_has_a_heading() -> None:
    tables = scenario_pages.tables()
    keys = {
        f"{name}.{key}".lstrip(".") for name in tables for key in tables[name].schema["properties"]
    }
    assert len(keys) > 50
    assert keys <= settings()
    assert len(tables) == 1 + len(json.loads(_core.schema())["$defs"])


def test_every_table_has_one_example_on_one_page() -> None:
    shown = [name for page in scenario_pages.pages() for name in page.examples]
    assert sorted(shown) == sorted(scenario_pages.tables()), "add it to docs/scenario_pages.toml"


def test_every_page_of_settings_is_generated_and_not_long() -> None:
    pages = [ROOT / name for name in scenario_pages.PAGES]
    assert {DOCS / "reference" / "scenario.md", *DOCS.glob("reference/scenario/*.md")} == set(pages)
    assert [page.name for page in pages if len(page.read_text("utf-8").splitlines()) > 460] == []


def is_used(tree: Any, path: Sequence[str]) -> bool:
    """Return whether a parsed file has a table at this path, and the table has at least one key."""
    if not isinstance(tree, dict) or not path:
        return isinstance(tree, dict) and tree != {}
    keys = tree if path[0] == scenario_pages.NAMED else tree.keys() & {path[0]}
    return any(is_used(tree[key], path[1:]) for key in keys)


def test_examples_of_tables_are_accepted_and_use_their_table() -> None:
    checks = {"gateway": _core.check_gateway, "interface": _core.check_interface}
    for page in scenario_pages.pages():
        for name, example in page.examples.items():
            check = checks.get(name.partition(".")[0], _core.Scenario)
            check(example.encode(), "toml", f"example of `{name}`", [], [])
            tree, places = tomllib.loads(example), scenario_pages.tables()[name].places
            assert any(is_used(tree, place.split(".") if place else []) for place in places), name


def test_the_example_of_the_index_is_accepted() -> None:
    example = scenario_pages.INDEX.partition("```toml\n")[2].partition("```")[0]
    assert len(lasthop.Scenario(example)["flows"]) == 3


def test_dots_are_not_part_of_names() -> None:
    points = "A list of 2 to 1000 points, each 2 numbers above 0."
    for name, key in (("csma", "csma.marginal_utility"), ("flow", "flow.NAME.marginal_utility")):
        page = scenario_pages.PAGES[f"docs/reference/scenario/{name}.md"]()
        assert points in page.partition(f"### `{key}`")[2].partition("\n##")[0]


def test_every_command_has_a_heading() -> None:
    commands = typer.main.get_command(app).commands
    assert {f"lasthop {name}" for name in commands} <= headings("reference/cli.md")


def test_every_command_named_in_the_docs_exists() -> None:
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")]
    named = {
        command
        for page in pages
        for command in re.findall(r"[`$] ?lasthop ([a-z]+(?:-[a-z]+)*)", page.read_text("utf-8"))
    }
    assert named <= set(typer.main.get_command(app).commands)


def test_every_quantity_has_a_heading() -> None:
    names = {quantity["name"] for quantity in json.loads(_core.quantities())}
    assert names <= headings("nomenclature.md")


def test_terms_are_in_order_and_name_settings_quantities_or_commands() -> None:
    terms = glossary()
    names = [term.name.lower() for term in terms]
    assert names == sorted(set(names))
    keys = settings()
    last = {key.rpartition(".")[2] for key in keys}
    known = keys | last | headings("nomenclature.md") | headings("reference/cli.md")
    for term in terms:
        assert term.means.endswith("."), term
        for carrier in re.findall(r"`([^`]+)`", term.carried_by):
            key = carrier.strip("[]").partition(" = ")[0]
            of_table = any(each.startswith(f"{key}.") for each in keys)
            assert key in known or of_table, term


def test_every_public_name_is_documented() -> None:
    reference = (DOCS / "reference" / "python.rst").read_text("utf-8")
    names = set(lasthop.__all__) - {"__version__", "relay"} | set(lasthop.relay.__all__)
    names |= set(lasthop.learning.__all__) - {"WINDOWS", "Reward", "VectorReward"}
    assert set(re.findall(r"^\.\. auto\w+:: (\w+)", reference, re.M)) == names
    page = (DOCS / "python.md").read_text("utf-8")
    assert {name for name in names if f"`{name}`" not in page} == set()
    assert "eval-rst" not in page, "GitHub shows it raw"


def test_lines_left_out_of_an_output_stay_out() -> None:
    shown = "first\n...\nlast\n"
    assert transcripts.shortened("1\n2\n3\n4\n", shown) == "1\n...\n4\n"
    assert transcripts.shortened("1\n2\n\n", "old\n") == "1\n2\n"


def test_files_and_prompts_of_a_page_work_together() -> None:
    toml = '```toml\n# a.toml\nduration = "1 s"\n```\n'
    prompt = '```pycon\n>>> from pathlib import Path\n>>> len(Path("a.toml").read_text())\n```\n'
    assert transcripts.refreshed(toml + prompt) == toml + prompt.replace("())\n", "())\n26\n")
