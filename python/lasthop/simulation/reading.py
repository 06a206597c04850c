"""Functions that read saved results of simulations."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lasthop.answers.envelope import fault_in_record
from lasthop.answers.reading import SUMMARY_ONLY, scenario_in, summary_of, text_of, tree_of
from lasthop.answers.record import KIND, StoredOutput, SummaryAlone, seal_of
from lasthop.answers.saving import RECORD_FILE, RESULT_FILE
from lasthop.errors import UserError
from lasthop.simulation.result import Result

__all__ = ["read_result", "result_of_summary"]


def read_result(file: Path, text: str, tree: Mapping[str, Any]) -> Result:
    """Return the result in a file. If ``record.json`` in the same directory belongs to this result,
    it is read, too.
    """
    summary_of(file, tree)
    record_file = file.with_name(RECORD_FILE)
    if file.name != RESULT_FILE or not record_file.is_file():
        return result_of_summary(file, text, SUMMARY_ONLY)
    record = tree_of(record_file, text_of(record_file))
    if record.get("kind") != KIND:
        raise UserError(f"{record_file}: not the record of a result: its `kind` must be {KIND}")
    if (fault := fault_in_record(record)) is not None:
        raise UserError(f"{record_file}: {fault}")
    if record.get("result") != seal_of(text):
        return result_of_summary(
            file, text, f"{RECORD_FILE} in the same directory is of another result"
        )
    return Result(StoredOutput.of_record(text, record), scenario_in(record_file, record))


def result_of_summary(file: Path, text: str, why: str) -> Result:
    """Return a result without samples, series and scenario, from the text of a summary."""
    return Result(SummaryAlone(text, str(file), why), None, origin=str(file), why=why)
