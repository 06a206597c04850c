"""The built files of the page: their folder, and the error if they are missing."""

from pathlib import Path

from lasthop.errors import UserError

__all__ = ["PAGE", "index", "page"]

PAGE = Path(__file__).with_name("page")
"""Folder of the built page, written by `make build` and included in wheels."""

ENTRY = "index.html"

API = '<meta name="lasthop-api" content="api/" />'
"""Element of the page with the address to request features that the browser's engine lacks."""


def page() -> Path:
    """Return the folder of the page's files.

    Raises
    ------
    UserError
        If they have not been built.
    """
    if not (PAGE / ENTRY).is_file() or not (PAGE / "engine.wasm").is_file():
        raise UserError(
            "the workbench's page has not been built here",
            "in a checkout run `make workbench`, which needs Node 20 and rustup",
        )
    return PAGE


def index() -> str:
    """Return the page with the address of Python's server."""
    return (page() / ENTRY).read_text("utf-8").replace("<head>", f"<head>\n    {API}", 1)
