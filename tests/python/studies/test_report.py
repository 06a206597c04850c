"""The report of `lasthop reproduce`: claims with their basis, then figures, and nothing else."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

import lasthop as lh
from lasthop.errors import UserError
from lasthop.scenario.source import as_toml
from lasthop.studies import reproduction
from lasthop.studies.findings import Finding
from lasthop.studies.ledger import load
from lasthop.studies.reproduction import Reproduction, scenarios_of, task
from lasthop.studies.study import Run

CLAIM = "hotspot-15"
"""A claim whose study has a figure and scenarios."""


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Reproduction]:
    """Return the report of a claim from a made-up run. The figure is a made-up file."""
    directory = tmp_path_factory.mktemp("report")
    asked = task([CLAIM], quick=True)
    results = tuple(claim.result({}, asked.ledger.rules) for claim in asked.claims)
    runs = {study.key: {point: Run({}) for point in study.points} for study in asked.studies}
    by_claim = {CLAIM: Finding("it is so", "hotspot-beta"), "hotspot-2": Finding("other", "x")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reproduction.findings, "of", lambda *_: by_claim)
        for study in asked.studies:
            patch.setitem(study.__dict__, "draw", lambda _: Drawn())
        done = Reproduction(asked.ledger, results, asked.studies, runs, True)
        done.save(directory)
    return directory, done


class Drawn:
    """A figure whose file has a few bytes."""

    def savefig(self, path: Path) -> None:
        path.write_bytes(b"lasthop")


def test_claims_come_before_figures(reported: tuple[Path, Reproduction]) -> None:
    page = (reported[0] / "report.html").read_text()
    assert 0 < page.index(f'id="{CLAIM}"') < page.index("<h2>Figures</h2>") < page.index("<img")
    assert page.index("Claims ledger") < page.index("<table>") < page.index("<h2>")


def test_a_claim_leads_to_scenarios_figure_and_rule(reported: tuple[Path, Reproduction]) -> None:
    directory, done = reported
    page = (directory / "report.html").read_text()
    [study] = done.studies
    links = [unquote(link) for link in re.findall(r'href="(scenarios/[^"]+)"', page)]
    assert links == list(scenarios_of(study).values())
    for link, tree in zip(links, study.points.values(), strict=True):
        assert lh.check(directory / link) == lh.check(tree)
    assert f'href="#{study.key}"' in page
    assert f'<figure id="{study.key}">' in page
    assert page.count("<summary>rule</summary>") == 1
    assert "id = &quot;hotspot-15&quot;" in page


def test_captions_are_about_requested_claims(
    reported: tuple[Path, Reproduction],
) -> None:
    page = (reported[0] / "report.html").read_text()
    assert f"<p>{CLAIM}: it is so" in page
    assert "hotspot-2" not in page


def test_links_have_an_existing_target(reported: tuple[Path, Reproduction]) -> None:
    directory, _ = reported
    page = (directory / "report.html").read_text()
    for link in re.findall(r'(?:href|src)="([^"]+)"', page):
        if link.startswith("#"):
            assert f'id="{link[1:]}"' in page
        else:
            assert (directory / unquote(link)).is_file()


def test_a_foreign_scenario_is_not_replaced(tmp_path: Path) -> None:
    asked = task([CLAIM], quick=True)
    mine = tmp_path / asked.files[-1]
    mine.parent.mkdir(parents=True)
    mine.write_text('duration = "1 s"\n')
    with pytest.raises(UserError, match="exists and is not a scenario of lasthop"):
        lh.studies.reproduction.Reproduction(asked.ledger, (), asked.studies, {}, True).save(
            tmp_path
        )
    assert mine.read_text() == 'duration = "1 s"\n'


def test_each_point_of_a_study_has_its_own_file() -> None:
    for study in task([], quick=False).studies:
        files = scenarios_of(study).values()
        assert len({file.lower() for file in files}) == len(study.points), study.key


def test_every_claim_has_its_rule_as_the_file_has_it() -> None:
    ledger = load()
    assert set(ledger.texts) == {claim.id for claim in ledger.claims}
    assert all(text.startswith("[[claim]]\nid = ") for text in ledger.texts.values())
    assert all(text.rstrip().endswith(("]", '"')) for text in ledger.texts.values())


def test_a_tree_and_its_toml_are_the_same_scenario() -> None:
    tree = {
        "name": 'with "quotes"',
        "duration": "3 s",
        "cell": {"phy": "802.11b", "ap": {"cwmin": 15}},
        "station": {"a": {"upload": 1}, "b": {"download": {"start": "1 s"}}},
    }
    assert lh.check(as_toml(tree)) == lh.check(tree)
