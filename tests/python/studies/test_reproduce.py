"""The command `lasthop reproduce`: its output, files and errors."""

import json
import sys
from functools import partial
from pathlib import Path

import pytest

from lasthop.cli import main
from lasthop.errors import UserError
from lasthop.studies import kept, reproduction
from lasthop.studies.reproduction import SUBJECTS_STUDIED, task

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

import claims


@pytest.fixture
def only_hotspot(monkeypatch):
    """Remove the studies of all subjects except `hotspot`."""
    monkeypatch.setattr(reproduction, "SUBJECTS_STUDIED", ("hotspot",))


def test_json_has_every_requested_claim_and_the_reason_of_open_claims(
    only_hotspot, tmp_path, capsys
):
    assert main(["reproduce", "acsma", "--json", "--out", str(tmp_path)]) == 0
    claims = json.loads(capsys.readouterr().out)["claims"]
    assert [claim["id"] for claim in claims] == [f"acsma-{n}" for n in range(1, 26)]
    assert {(claim["verdict"], claim["why"]) for claim in claims} == {
        ("open", "no study runs it yet")
    }


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("hotspt", "did you mean hotspot?"),
        ("hotspot-21", "did you mean hotspot-2?"),
        ("xyzzy", "subjects with studies: hotspot, edca, red, vbs, acsma, ax, bbr-wifi"),
    ],
)
def test_an_unknown_name_is_one_error_line_with_the_nearest_name(name, hint, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["reproduce", name, "--out", str(out)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        f'error: "{name}" is neither a subject nor a claim',
        f"hint: {hint}",
    ]
    assert not out.exists()


@pytest.mark.slow
def test_a_quick_run_judges_beta_and_writes_its_report(tmp_path, capsys):
    assert main(["reproduce", "hotspot-15", "--quick", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "hotspot-15: deviates" in printed
    assert "calibration" in printed
    assert "0 reproduced, 1 deviates, 0 open" in printed
    report = (tmp_path / "report.html").read_text()
    assert "hotspot-15" in report
    assert 'src="hotspot-beta.png"' in report
    assert (tmp_path / "hotspot-beta.png").stat().st_size > 10_000


def test_a_subject_without_studies_has_only_claims(only_hotspot, tmp_path, capsys):
    assert task(["acsma"], quick=True).studies == ()
    assert main(["reproduce", "xyzzy", "--out", str(tmp_path)]) == 2
    assert "claims only, so far: edca, vbs, acsma, red, ax" in capsys.readouterr().err


def test_claims_choose_only_the_studies_that_they_read():
    assert {study.name for study in task(["hotspot-6"], quick=True).studies} == {"fig07", "fig10"}
    with pytest.raises(UserError, match="neither a subject nor a claim"):
        task(["hotspot", "nonsense"], quick=True)


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS_STUDIED)
def test_the_full_run_is_the_stored_run_and_a_quick_run_does_not_contradict_it(subject, tmp_path):
    full = task([subject], quick=False).run(tmp_path)
    again = kept.keep(full.studies, full.runs, full.results)
    samples = claims.samples()
    text = partial(json.dumps, sort_keys=True)
    changed = [
        (key, part)
        for key, run in again["runs"].items()
        for part in ("samples", "series")
        # Values are compared as text. A station without pings has NaN, and NaN does not equal NaN.
        if text(samples[key].get(part)) != text(run.get(part))
    ]
    assert changed == []
    quick = task([subject], quick=True).run(tmp_path).results
    for result, other in zip(quick, full.results, strict=True):
        for check, settled in zip(result.checks, other.checks, strict=True):
            assert check.verdict.value in ("open", settled.verdict.value), (result.claim.id, check)
