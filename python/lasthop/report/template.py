"""The template of reports: a page with its scripts and styles in it, without data."""

from lasthop.errors import UserError
from lasthop.workbench.files import PAGE

__all__ = ["DATA", "TITLE", "template"]

FILE = PAGE / "report.template"
"""The template, written by `make build` and included in wheels."""

DATA = "@lasthop-report@"
"""Place of the data: JSON, compressed by gzip, in base64."""

TITLE = "<title>lasthop report</title>"
"""Place of the title."""


def template() -> str:
    """Return the template.

    Raises
    ------
    UserError
        If it has not been built.
    """
    if not FILE.is_file():
        raise UserError(
            "--report: the template of reports has not been built here",
            "in a checkout run `make workbench`, which needs Node 20 and rustup",
        )
    return FILE.read_text("utf-8")
