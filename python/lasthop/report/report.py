"""Report of a result: the workbench's views of stored results, in one HTML file without external
resources.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import ceil
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from lasthop import _core
from lasthop.answers.answer import Answer
from lasthop.answers.overwrite import refuse_if_foreign
from lasthop.answers.saving import text_writer, write_atomically
from lasthop.comparison.compare import Comparison
from lasthop.display.page import Page, Table, inline
from lasthop.plot.about import changes
from lasthop.report.anonymous import Anonymiser
from lasthop.report.template import DATA, TITLE, template
from lasthop.simulation.result import Result
from lasthop.sweep import Sweep

if TYPE_CHECKING:
    from lasthop.tuning.tuning import Tuning
    from lasthop.whatif.what_if import WhatIf

__all__ = ["Report", "Reported", "report_of", "write_report"]

Reported: TypeAlias = "Answer | Comparison | Sweep | Tuning | WhatIf"
"""Types of results that can be written as a report."""

NEUTRAL_TITLE = "a network"
"""Title of an anonymous report."""

MAX_BYTES = 1_000_000
"""Maximum size of a report, except that tables are never shortened. [bytes]"""


@dataclass(frozen=True)
class Run:
    """Results of one scenario, which the views of a report show."""

    label: str
    """Kind of the result, in one word."""
    scenario: Mapping[str, Any]
    """The normalised scenario."""
    answer: Mapping[str, Any]
    """The result, as ``--json`` prints it."""
    prediction: Mapping[str, Any] | None = None
    """The prediction of a model for the same scenario."""
    series: Mapping[str, Any] | None = None
    """Time series of the first replication."""
    distributions: Sequence[Mapping[str, Any]] = ()
    """Distributions of delays."""


@dataclass(frozen=True)
class Report:
    """Contents of a report, before they are written as HTML.

    Attributes
    ----------
    title, about : str
        Headline, and the line below it.
    command : str
        Command line that produced the result.
    seed : int
    scenario : mapping
        The normalised scenario, whose names an anonymous report replaces.
    text : str
        Text of the scenario file.
    settings : sequence of pairs
        Settings that replace values of the file: path and value.
    notes, warnings : sequence of str
    runs : sequence of Run
        Results that the views show.
    tables : sequence of Table
    picture : str
        Picture as PNG in base64; empty if there is none.
    alt : str
        Description of the picture.
    """

    title: str
    about: str
    command: str
    seed: int
    scenario: Mapping[str, Any]
    text: str
    settings: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    runs: Sequence[Run] = ()
    tables: Sequence[Table] = ()
    picture: str = ""
    alt: str = ""

    def html(self) -> str:
        """Return the report as the text of one HTML file.

        Time series are thinned until the file has at most `MAX_BYTES`. If this is not enough, time
        series and distributions are left out with a note.

        Raises
        ------
        UserError
            If the template of reports has not been built.
        """
        page = ""
        for report in self._smaller():
            page = report._html()
            if len(page.encode()) <= MAX_BYTES:
                return page
        return page

    def anonymous(self) -> "Report":
        """Return a copy of the report without the user's names, comments and file names.

        Stations, flows, links and nodes get neutral names. The picture is omitted, because it
        contains the names.
        """
        names = Anonymiser(self.scenario)
        return replace(
            self,
            title=NEUTRAL_TITLE,
            about=names.text(self.about),
            command=names.command(self.command),
            text=names.toml(self.text),
            settings=[(names.text(path), names.text(value)) for path, value in self.settings],
            notes=[names.text(note) for note in self.notes],
            warnings=[names.text(warning) for warning in self.warnings],
            runs=[
                Run(
                    run.label,
                    names.tree(run.scenario),
                    names.tree(run.answer),
                    names.tree(run.prediction),
                    names.tree(run.series),
                    names.tree(run.distributions),
                )
                for run in self.runs
            ],
            tables=[
                replace(
                    table,
                    heads=[names.text(head) for head in table.heads],
                    rows=[[names.text(cell) for cell in row] for row in table.rows],
                )
                for table in self.tables
            ],
            picture="",
            alt="",
        )

    def _smaller(self) -> Iterator["Report"]:
        """Yield copies of the report with fewer and fewer details."""
        yield self
        for every in (4, 16):
            runs = [replace(run, series=_thinned(run, every)) for run in self.runs]
            yield replace(self, runs=runs)
        left_out = "The time series and distributions are too large for this report."
        few = [replace(run, series=None, distributions=()) for run in self.runs]
        yield replace(self, runs=few, notes=[*self.notes, left_out])
        tables_only = "The views are left out, since the results are too large for this report."
        yield replace(self, runs=(), notes=[*self.notes, tables_only])

    def _html(self) -> str:
        data = b64encode(gzip.compress(json.dumps(self._tree()).encode(), 9, mtime=0)).decode()
        page = template().replace(TITLE, f"<title>{escape(self.title)}</title>", 1)
        return page.replace(DATA, data, 1)

    def _tree(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "about": self.about,
            "command": self.command,
            "version": _core.VERSION,
            "seed": self.seed,
            "text": self.text,
            "settings": [list(pair) for pair in self.settings],
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "runs": [
                {
                    "label": run.label,
                    "scenario": run.scenario,
                    "answer": run.answer,
                    "prediction": run.prediction,
                    "series": run.series,
                    "distributions": list(run.distributions),
                }
                for run in self.runs
            ],
            "tables": [
                {
                    "title": table.title,
                    "heads": list(table.heads),
                    "rows": [list(row) for row in table.rows],
                    "bold": sorted(table.bold),
                }
                for table in self.tables
            ],
            "picture": self.picture,
            "alt": self.alt,
        }


def report_of(answer: Reported, command: str = "") -> Report:
    """Return the report of a result.

    Parameters
    ----------
    answer : Result, Prediction, Emulation, Comparison, Sweep, Tuning or WhatIf
    command : str
        Command line that produced the result.

    Raises
    ------
    UserError
        If the result was loaded from a summary without its scenario.
    """
    scenario = getattr(answer, "base", None) or answer.scenario
    page: Page = answer.page()
    runs = list(runs_of(answer))
    return Report(
        page.title,
        page.about,
        command,
        int(scenario["seed"]),
        scenario.to_dict(),
        scenario.content.decode(),
        [*changes(scenario).items()],
        page.notes,
        list(getattr(answer, "warnings", ())),
        runs,
        [] if isinstance(answer, Answer) else page.tables,
        "" if runs or page.picture is None else inline(page.picture),
        page.alt,
    )


def write_report(
    answer: Reported, path: str | PathLike[str], *, command: str = "", anonymise: bool = False
) -> Path:
    """Write the report of a result as an HTML file.

    Parameters
    ----------
    answer : Result, Prediction, Emulation, Comparison, Sweep, Tuning or WhatIf
    path : str or path
        Path of the report.
    command : str
        Command line that produced the result.
    anonymise : bool
        Whether the user's names are replaced, and comments are omitted.

    Returns
    -------
    Path
        Path of the report.

    Raises
    ------
    UserError
        If the template has not been built, if the result has no scenario, or if the file exists and
        is not a report of lasthop.

    Examples
    --------
    This needs the template of reports, which Node builds.

    >>> import lasthop as lh
    >>> result = lh.simulate(
    ...     {"duration": "2 s", "cell": {"phy": "802.11b"}, "station": {"reader": {"download": 1}}}
    ... )
    >>> path = lh.write_report(result, "reader.html")  # doctest: +SKIP
    """
    place = Path(path)
    refuse_if_foreign(place)
    report = report_of(answer, command)
    write_atomically(place, text_writer((report.anonymous() if anonymise else report).html()))
    return place


def runs_of(answer: Reported) -> Iterator[Run]:
    """Yield the results that the views of a report can show."""
    for single, prediction in answer.single_answers():
        run = _run(single)
        yield run if prediction is None else replace(run, prediction=prediction.to_dict())


def _run(answer: Answer) -> Run:
    scenario = answer.scenario.to_dict()
    kind = answer.heading.kind
    if not isinstance(answer, Result):
        return Run(kind, scenario, answer.to_dict())
    return Run(
        kind,
        scenario,
        answer.to_dict(),
        series=answer.series_tree or None,
        distributions=answer.distribution_list,
    )


def _thinned(run: Run, every: int) -> Mapping[str, Any] | None:
    """Return the time series with only every `every`-th sample."""
    if not run.series:
        return None
    tracks = [{**track, "values": track["values"][::every]} for track in run.series["tracks"]]
    return {
        "interval_s": every * run.series["interval_s"],
        "time_s": run.series["time_s"][::every],
        "tracks": tracks,
    }


def series_interval_s(duration_s: float) -> float:
    """Return the sampling interval for a report's time series: about 500 samples per run. [s]"""
    return max(0.001, ceil(duration_s / 500 * 1_000) / 1_000)
