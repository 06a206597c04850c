"""Template of reports: an HTML page with embedded scripts and styles, without data."""

from lasthop.errors import UserError
from lasthop.workbench.files import PAGE

__all__ = ["DATA", "TITLE", "template"]

FILE = PAGE / "report.template"
"""Path of the template, which `make build` writes and wheels contain."""

DATA = "@lasthop-report@"
"""Placeholder in the template for the data: JSON, compressed with gzip, in base64."""

TITLE = "<title>lasthop report</title>"
"""Placeholder in the template for the title."""


def template() -> str:
    """Return the text of the template.

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
