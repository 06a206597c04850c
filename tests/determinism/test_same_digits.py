"""A page shows digits that hold on every processor."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .processors import PROCESSORS, dressed_as

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))

import refresh  # noqa: E402

REMEDY = "run `make docs-pages` and look at what changed"
DELICATE = [path for path in refresh.guides() if refresh.rests_on_linear_algebra(path)]


@pytest.mark.parametrize("path", DELICATE, ids=lambda path: path.name)
@pytest.mark.parametrize(
    "core",
    [*PROCESSORS[:2], *(pytest.param(core, marks=pytest.mark.slow) for core in PROCESSORS[2:])],
)
def test_digits_shown_are_those_of_every_processor(path: Path, core: str) -> None:
    run = subprocess.run(
        [sys.executable, DOCS / "transcripts.py", path],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"} | dressed_as(core),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr == ""
    assert run.stdout == path.read_text("utf-8"), REMEDY


def test_some_pages_are_run_as_other_processors() -> None:
    assert [path.name for path in DELICATE] == ["oscillation.md"]
