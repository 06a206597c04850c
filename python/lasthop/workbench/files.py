"""Files of the built web page: their directory, and the error if they are missing."""

from pathlib import Path

from lasthop.errors import UserError

__all__ = ["PAGE", "index", "page"]

PAGE = Path(__file__).with_name("page")
"""Directory of the built web page, which `make build` writes and wheels contain."""

ENTRY = "index.html"

API = '<meta name="lasthop-api" content="api/" />'
"""Element of the page with the server's address for features that the browser's engine lacks."""


def page() -> Path:
    """Return the directory of the web page's files.

    Raises
    ------
    UserError
        If the page has not been built.
    """
    if not (PAGE / ENTRY).is_file() or not (PAGE / "engine.wasm").is_file():
        raise UserError(
            "the workbench's page has not been built here",
            "in a checkout run `make workbench`, which needs Node 20 and rustup",
        )
    return PAGE


def index() -> str:
    """Return the HTML of the page, with the address of this server."""
    return (page() / ENTRY).read_text("utf-8").replace("<head>", f"<head>\n    {API}", 1)
