"""The template of reports: a page with embedded scripts and styles, and without data."""

from lasthop.errors import UserError
from lasthop.workbench.files import PAGE

__all__ = ["DATA", "TITLE", "template"]

FILE = PAGE / "report.template"
"""The template, written by `make build` and included in wheels."""

DATA = "@lasthop-report@"
"""Placeholder for the data: JSON, compressed with gzip, in base64."""

TITLE = "<title>lasthop report</title>"
"""Placeholder for the title."""


def template() -> str:
    """Return the template.

    Raises
    ------
    UserError
        If the template has not been built.
    """
    if not FILE.is_file():
        raise UserError(
            "--report: the template of reports has not been built here",
            "in a checkout run `make workbench`, which needs Node 20 and rustup",
        )
    return FILE.read_text("utf-8")
