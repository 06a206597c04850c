"""A fault of `make mutations` is one changed line, and a seed reproduces the faults."""

import ast
import sys
import tomllib
from itertools import islice
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.append(str(ROOT / "tests" / "mutations"))

import fault as faults  # noqa: E402
import mutations  # noqa: E402
from places import definitions as defined  # noqa: E402
from places import places_in  # noqa: E402


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[faults.Fault]]:
    return first(faults.queues(ROOT, "1"))


def first(queues: dict[str, faults.Queue]) -> dict[str, list[faults.Fault]]:
    return {kind: list(islice(queue, faults.KINDS[kind])) for kind, queue in queues.items()}


@pytest.mark.parametrize("kind", list(faults.KINDS))
def test_a_fault_is_one_line_of_a_file_that_can_still_be_read(drawn, kind):
    assert len(drawn[kind]) == faults.KINDS[kind]
    for fault in drawn[kind]:
        text = (ROOT / fault.file).read_text("utf-8")
        lines, changed = text.splitlines(), fault.applied(text).splitlines()
        assert [k for k, line in enumerate(lines, 1) if line != changed[k - 1]] == [fault.line]
        assert len(changed) == len(lines)
        read = tomllib.loads if fault.file.endswith(".toml") else ast.parse
        read("\n".join(changed))


def test_a_seed_repeats_its_faults_and_another_seed_draws_other_faults(drawn):
    assert first(faults.queues(ROOT, "1")) == drawn
    assert first(faults.queues(ROOT, "2")) != drawn


def test_kinds_of_faults_are_of_different_lines(drawn):
    lines = [(fault.file, fault.line) for some in drawn.values() for fault in some]
    assert len(lines) == len(set(lines))


def test_code_that_measures_is_found_from_studies_and_drawing_is_not():
    places = places_in(ROOT)
    definitions = {
        (module.file.removeprefix("python/lasthop/studies/"), name)
        for module, nodes in places.measures()
        for node in nodes
        for name in defined([node])
    }
    for place in [
        ("hotspot/cell.py", "fairness"),
        ("hotspot/multirate.py", "ratios"),
        ("edca/fig06.py", "saturation"),
        ("red/router.py", "loss"),
        ("vbs/cell.py", "ratio"),
    ]:
        assert place in definitions
    assert not {name for _, name in definitions} & {"draw", "findings", "scenario", "picture"}


def test_moved_code_is_recognised():
    assert mutations.same_code("x = 2 * 3\n", "\nx = 6\n")
    assert not mutations.same_code("x = 6\n", "x = 6.0\n")


def test_faults_outside_a_subject_are_not_tested_for_it():
    fault = faults.Fault("measures", "python/lasthop/studies/edca/cell.py", 1, "", "")
    close, rest = mutations.suites(ROOT, fault)
    names = [Path(file).name for file in close]
    assert "edca" in names[0]
    assert "test_ledger.py" in names
    assert "test_hotspot.py" not in names
    assert "tests/python/test_docs.py" in rest
