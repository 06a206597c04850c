"""The log of a gateway has times and a limited size."""

import os
import re
import sys
from pathlib import Path

import pytest

from lasthop.daemon import log


def test_lines_have_their_time_unless_the_journal_adds_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JOURNAL_STREAM", raising=False)
    log.say("shaping again")
    stamped = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} shaping again\n"
    assert re.fullmatch(stamped, capsys.readouterr().err)
    monkeypatch.setenv("JOURNAL_STREAM", "8:1")
    log.say("shaping again")
    assert capsys.readouterr().err == "shaping again\n"


def test_a_large_log_becomes_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(log, "LARGEST_BYTES", 200)
    before, errors = os.dup(2), sys.stderr
    try:
        with open(2, "w", closefd=False) as sys.stderr:
            file = log.LogFile(tmp_path / "log")
            for k in range(100):
                file.say(f"line {k}")
    finally:
        sys.stderr = errors
        os.dup2(before, 2)
        os.close(before)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log", "log.1"]
    assert (tmp_path / "log").read_text().endswith("line 99\n")
    assert all(path.stat().st_size < 300 for path in tmp_path.iterdir())
