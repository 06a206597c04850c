"""Option `--report FILE.html` of several commands."""

from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.answers.overwrite import refuse_if_foreign
from lasthop.cli.command_line import command_line
from lasthop.cli.options import file_name, flag, unset, writable_file
from lasthop.cli.picture import tell
from lasthop.errors import UserError

if TYPE_CHECKING:
    from lasthop.report import Reported

__all__ = ["ANONYMISE", "REPORT_FILE", "report_path", "save_report"]

OPTION = "--report"

SUFFIXES = (".html", ".htm")

REPORT_FILE = unset(
    "FILE.html",
    "Write a report: one HTML file with views, tables, scenario, command, version and seed.",
    OPTION,
    parser=file_name,
)
ANONYMISE = flag(
    "--anonymise",
    "Replace the names of stations, flows and links in the report, and omit comments.",
)


def report_path(asked: Path | None, anonymise: bool, scenario: str = "") -> Path | None:
    """Return the path of the report; raise an error if it cannot be written. None without --report.

    Parameters
    ----------
    asked : Path or None
        Value of the option --report.
    anonymise : bool
        Value of the option --anonymise.
    scenario : str
        File of the scenario, which must not be replaced.

    Raises
    ------
    UserError
        If the name does not end in .html, if the file cannot be written, if another program has
        written it, or if the template of reports was not built.
    """
    if asked is None:
        if anonymise:
            raise UserError("--anonymise: must be given with --report FILE.html")
        return None
    if asked.suffix.lower() not in SUFFIXES:
        raise UserError(f"{OPTION} {asked}: expected a name that ends in .html")
    from lasthop.report.template import template

    template()
    path = writable_file(asked, OPTION, scenario)
    refuse_if_foreign(path, ".html")
    return path


def save_report(
    answer: "Reported", path: Path | None, anonymise: bool, *, as_json: bool = False
) -> None:
    """Write the report to `path` and print the path; do nothing if `path` is None."""
    if path is None:
        return
    from lasthop.report import write_report

    path.parent.mkdir(parents=True, exist_ok=True)
    write_report(answer, path, command=command_line(), anonymise=anonymise)
    tell("report", path, as_json=as_json)
