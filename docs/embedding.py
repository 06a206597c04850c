"""The workbench inside the site: its page, and links that open scenarios of other pages in it.

Pages say ``[words](workbench:)`` for the page itself, ``[words](workbench:NAME.toml)`` for a
scenario whose text they show, ``workbench:NAME.toml?queue`` for a view of it. Each block of TOML
that is a whole scenario has a link *Try it*. Where the page has not been built, as on a code host,
the words stand there without a link, and *Try it* is left out.
"""

import base64
import json
import shutil
import sys
import tomllib
import zlib
from pathlib import Path
from typing import Any

from transcripts import BLOCK, FILE_NAME

from lasthop import Scenario
from lasthop.errors import UserError
from lasthop.workbench.files import page

SCHEME = "workbench:"
FOLDER = "workbench"
"""Place of the page in the site."""

VIEWS = ("delay", "shares", "time", "air", "queue", "numbers")
"""Names of the views, as `views/Results.svelte` has them."""

LINUX_ONLY = {"gateway", "interface"}
"""Tables that the page refuses, since they work only on Linux."""


def fragment(text: str, view: str, **looks: str) -> str:
    """Return the suffix of the page's address that shows a scenario, as its Share makes it.

    Without a view, the page shows the first one that suits the scenario.
    """
    shown = {"results": view} if view else {}
    linked = {"text": text, "settings": [], "view": {"side": "text", **shown, **looks}}
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(json.dumps(linked).encode()) + packer.flush()
    return "#s=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def scenarios(page: str) -> dict[str, str]:
    """Texts of the scenarios that a page of the documentation shows, by name."""
    named = ((FILE_NAME.match(block[2]), block[2]) for block in BLOCK.finditer(page))
    return {name[1]: text for name, text in named if name and name[1].endswith(".toml")}


def target(link: str, page: str) -> str:
    """Where a link leads, from the site's root.

    Raises
    ------
    ValueError
        If the page shows no such scenario, or there is no such view.
    """
    name, _, view = link.removeprefix(SCHEME).partition("?")
    address = f"{FOLDER}/index.html"
    if not name:
        return address
    shown = scenarios(page)
    if name not in shown:
        raise ValueError(f"{link}: the page shows no {name}")
    if view and view not in VIEWS:
        raise ValueError(f"{link}: a view is one of {', '.join(VIEWS)}")
    return address + fragment(shown[name], view)


def is_scenario(text: str) -> bool:
    """Return whether a block of TOML is a whole scenario that the page can simulate."""
    try:
        Scenario(text)
    except (UserError, ValueError, OSError):
        return False
    return not LINUX_ONLY & tomllib.loads(text).keys() and "trace_file" not in text


def is_built() -> bool:
    """Whether there is a page to link to."""
    try:
        page()
    except UserError:
        return False
    return True


def add_trials(doctree: Any, up: str) -> None:
    """Put a link that opens the workbench after each block that is a whole scenario."""
    from docutils import nodes

    blocks = [
        block for block in doctree.findall(nodes.literal_block) if block.get("language") == "toml"
    ]
    for block in blocks:
        if is_scenario(text := f"{block.astext().rstrip()}\n"):
            address = f"{up}{FOLDER}/index.html{fragment(text, '')}"
            link = nodes.reference("", "Try it in the workbench", refuri=address)
            place = block.parent if isinstance(block.parent, nodes.container) else block
            place.parent.insert(place.parent.index(place) + 1, nodes.paragraph("", "", link))


def resolve(app: Any, doctree: Any, docname: str) -> None:
    """Replace addresses of the scheme; without a page, only by their words."""
    from docutils import nodes

    if app.config.workbench_is_built:
        add_trials(doctree, "../" * docname.count("/"))
    links = [
        node
        for node in doctree.findall(nodes.reference)
        if node.get("refuri", "").startswith(SCHEME)
    ]
    if not links:
        return
    text = Path(app.env.doc2path(docname)).read_text("utf-8")
    up = "../" * docname.count("/")
    for node in links:
        address = target(node["refuri"], text)
        if app.config.workbench_is_built:
            node["refuri"] = up + address
        else:
            node.replace_self(node.children)


def copy_page(app: Any, error: Exception | None) -> None:
    """Put the page into the site."""
    target = Path(app.outdir) / FOLDER
    shutil.rmtree(target, ignore_errors=True)
    if error is not None:
        return
    if app.config.workbench_is_built:
        shutil.copytree(page(), target)
    else:
        print("the site is without the workbench: `make workbench` builds it", file=sys.stderr)


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx; pages are rewritten where the workbench has come or gone."""
    app.add_config_value("workbench_is_built", is_built(), "html")
    app.connect("doctree-resolved", resolve)
    app.connect("build-finished", copy_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
