"""JSON documents in a text file: one, several in sequence, or between lines of other text.

The output of ``iperf3 --json`` can begin with lines of text, such as a warning. A server's log, or
a file to which output is appended, contains one report per test. ``iperf3 --json-stream`` writes
one event per line; all events together are one report. A document begins in the first column of a
line, or directly after the previous document.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["NoNumberError", "documents"]

BEGINNING = re.compile(r"^\{", re.MULTILINE)
SPACE = re.compile(r"\s*")


class NoNumberError(Exception):
    """Error about a NaN or infinite number, which JSON does not permit."""


def _no_number(text: str) -> None:
    raise NoNumberError(text)


DECODER = json.JSONDecoder(parse_constant=_no_number)


def documents(text: str) -> tuple[list[Any], list[str]]:
    """Return the JSON documents in a text, and a sentence about each incomplete document.

    Raises
    ------
    ValueError
        If no document is complete.
    RecursionError
        If a document is nested too deeply.
    NoNumberError
        If a number is NaN or infinite.
    """
    try:
        total = DECODER.decode(text)
    except ValueError as error:
        result, broken = _among_lines(text, error)
    else:
        # `jq --slurp` writes a list of reports.
        several = isinstance(total, list) and total and isinstance(total[0], dict)
        result, broken = (total if several else [total]), []
    return list(_joined(result)), broken


def _among_lines(text: str, error: ValueError) -> tuple[list[Any], list[str]]:
    """Return the documents that begin in the first column, or directly after another document.
    Raise `error` if there is none."""
    results: list[Any] = []
    broken: list[str] = []
    end = 0
    while (at := _next(text, end)) >= 0:
        try:
            document, end = DECODER.raw_decode(text, at)
            results.append(document)
        except ValueError as cut:
            error = error if broken else cut
            line = text.count("\n", 0, at) + 1
            broken.append(f"the report that begins in line {line} is incomplete: left out")
            end = at + 1
    if not results:
        raise error
    return results, broken


def _next(text: str, end: int) -> int:
    """Return the offset of the next document that begins at or after the offset `end`; -1 if there
    is none.
    """
    space = SPACE.match(text, end)
    at = space.end() if space else end
    if text.startswith("{", at) and (end == 0 or text[end - 1] == "}"):
        return at
    beginning = BEGINNING.search(text, at)
    return -1 if beginning is None else beginning.start()


def _joined(result: list[Any]) -> Iterator[Any]:
    """Yield the reports; the events of one run of ``--json-stream`` are joined to one report.

    With ``--json-stream-full-output``, the whole report follows the events and replaces them.
    """
    report: dict[str, Any] | None = None
    for document in result:
        if isinstance(document, dict) and document.keys() == {"event", "data"}:
            name, data = str(document["event"]), document["data"]
            if report is not None and name == "start" and "start" in report:
                yield report
                report = None
            report = {"intervals": []} if report is None else report
            if name == "interval":
                report["intervals"].append(data)
            else:
                report[name] = data
            continue
        if report is not None and not _is_same_run(report, document):
            yield report
        report = None
        yield document
    if report is not None:
        yield report


def _is_same_run(report: dict[str, Any], document: Any) -> bool:
    """Return whether a document is the full report of the run whose events precede it."""
    start = document.get("start") if isinstance(document, dict) else None
    return isinstance(start, dict) and start == report.get("start")
