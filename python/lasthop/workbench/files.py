"""The built files of the page: where they lie, and what is said where there are none."""

from pathlib import Path

from lasthop.errors import UserError

__all__ = ["PAGE", "index", "page"]

PAGE = Path(__file__).with_name("page")
"""What `make build` puts there, and wheels carry."""

ENTRY = "index.html"

API = '<meta name="lasthop-api" content="api/" />'
"""Tells the page where to ask for what the browser's engine has not."""


def page() -> Path:
    """Where the page's files lie.

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
    """The page as it is served beside Python."""
    return (page() / ENTRY).read_text("utf-8").replace("<head>", f"<head>\n    {API}", 1)
