"""Embed the workbench in the site: copy its page, and add links that open scenarios in it.

Pages contain ``[words](workbench:)`` for the workbench itself, ``[words](workbench:NAME.toml)`` for
a scenario whose text they show, and ``workbench:NAME.toml?queue`` for a view of the scenario. Each
block of TOML that is a whole scenario gets a link *Try it*. If the workbench has not been built, as
on a code host, the words have no link, and *Try it* is left out.
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
"""Folder of the site that contains the workbench."""

VIEWS = ("delay", "shares", "time", "air", "queue", "numbers")
"""Keys of the views, as in `views/Results.svelte`."""

LINUX_ONLY = {"gateway", "interface"}
"""Tables that the workbench refuses, because they apply only to Linux."""


def fragment(text: str, view: str, **looks: str) -> str:
    """Return the fragment (`#s=...`) of a workbench address that opens a scenario. The button Share
    makes the same fragment.
    """
    shown = {"results": view} if view else {}
    linked = {"text": text, "settings": [], "view": {"side": "text", **shown, **looks}}
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(json.dumps(linked).encode()) + packer.flush()
    return "#s=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def scenarios(page: str) -> dict[str, str]:
    """Return the scenario texts on a page of the documentation, by file name."""
    named = ((FILE_NAME.match(block[2]), block[2]) for block in BLOCK.finditer(page))
    return {name[1]: text for name, text in named if name and name[1].endswith(".toml")}


def target(link: str, page: str) -> str:
    """Return the target of a link, relative to the site's root.

    Raises
    ------
    ValueError
        If the page does not show the scenario that the link names, or `VIEWS` lacks the view.
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
    """Return whether a TOML block is a complete scenario that the workbench can simulate."""
    try:
        Scenario(text)
    except (UserError, ValueError, OSError):
        return False
    return not LINUX_ONLY & tomllib.loads(text).keys() and "trace_file" not in text


def is_built() -> bool:
    """Return whether the workbench has been built."""
    try:
        page()
    except UserError:
        return False
    return True


def add_trials(doctree: Any, up: str) -> None:
    """Add a link *Try it* after each block that is a complete scenario."""
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
    """Replace ``workbench:`` addresses by links. If the workbench was not built, keep only the text
    of each link.
    """
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
    """Copy the workbench into the site."""
    target = Path(app.outdir) / FOLDER
    shutil.rmtree(target, ignore_errors=True)
    if error is not None:
        return
    if app.config.workbench_is_built:
        shutil.copytree(page(), target)
    else:
        print("the site is without the workbench: `make workbench` builds it", file=sys.stderr)


def setup(app: Any) -> dict[str, bool]:
    """Register the functions with Sphinx. The returned setting makes Sphinx write pages again after
    the workbench was built or removed.
    """
    app.add_config_value("workbench_is_built", is_built(), "html")
    app.connect("doctree-resolved", resolve)
    app.connect("build-finished", copy_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
