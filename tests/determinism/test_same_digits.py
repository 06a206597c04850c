"""The digits in a page of the documentation are the same on every processor."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .processors import PROCESSORS, dressed_as

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))

import refresh  # noqa: E402

IN_BRIEF = DOCS.parent / "tests" / "python" / "pages_in_brief.py"
REMEDY = "run `make docs-pages` and look at what changed"
DELICATE = [path for path in refresh.guides() if refresh.rests_on_linear_algebra(path)]


def printed(program: Path, path: Path, core: str) -> str:
    """Return a page of the documentation with the outputs that its commands print on a processor
    type.
    """
    run = subprocess.run(
        [sys.executable, program, path],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"} | dressed_as(core),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr == ""
    return run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("path", DELICATE, ids=lambda path: path.name)
@pytest.mark.parametrize("core", PROCESSORS)
def test_digits_shown_are_those_of_every_processor(path: Path, core: str) -> None:
    assert printed(DOCS / "transcripts.py", path, core) == path.read_text("utf-8"), REMEDY


@pytest.mark.parametrize("path", DELICATE, ids=lambda path: path.name)
@pytest.mark.parametrize("core", PROCESSORS[:2])
def test_digits_of_short_commands_are_those_of_two_processors(path: Path, core: str) -> None:
    assert printed(IN_BRIEF, path, core) == path.read_text("utf-8"), REMEDY


def test_some_pages_are_run_as_other_processors() -> None:
    assert [path.name for path in DELICATE] == ["oscillation.md"]
