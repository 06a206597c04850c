"""Refuse a site that loads anything from other sites: ``python docs/offline.py site``."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc\s*=\s*["']?(?P<src>[^"'\s>]+)"""
    r"""|<link\b(?![^>]*\brel=["']?(?:canonical|author|next|prev|index|search))"""
    r"""[^>]*?\bhref\s*=\s*["']?(?P<href>[^"'\s>]+)"""
    r"""|(?:@import\s+(?!url\()|url\()\s*["']?(?P<css>[^"')\s]+)""",
    re.IGNORECASE,
)
"""Pattern for addresses that a browser loads automatically with a page or style sheet. Links that a
user follows are not included.
"""

ELSEWHERE = re.compile(r"(?:[a-z]+:)?//", re.IGNORECASE)


def loaded_from_elsewhere(text: str) -> Iterator[str]:
    """Yield addresses outside the site that a page or a style sheet loads."""
    for match in LOADED.finditer(text):
        address = match["src"] or match["href"] or match["css"]
        if ELSEWHERE.match(address):
            yield address


def missing(site: Path) -> Iterator[str]:
    """Yield scripts that pages load and that are missing in the site."""
    for page in site.rglob("*.html"):
        for address in re.findall(r'<script\b[^>]*?\bsrc="([^"?#]+)', page.read_text("utf-8")):
            if not (page.parent / address).is_file():
                yield f"{page.relative_to(site)}: {address} is not there"


def main() -> None:
    """Print the files that load anything from other sites. Fail if there are any."""
    site = Path(sys.argv[1])
    wrong = [
        f"{path.relative_to(site)}: loads {address}"
        for pattern in ("*.html", "*.css")
        for path in sorted(site.rglob(pattern))
        for address in loaded_from_elsewhere(path.read_text("utf-8"))
    ]
    wrong += missing(site)
    if wrong:
        sys.exit("\n".join(["the site needs a network:", *wrong]))


if __name__ == "__main__":
    main()
