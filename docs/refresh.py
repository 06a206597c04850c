"""Update the generated parts of the documentation: `make docs-pages`.

Reference pages are written from the scenario schema, the command line and the registry of
quantities. The verdicts on the papers' claims and their tables come from stored runs, and the page
of two classes from stored points. Examples with each kind of access point are those that `lasthop
init` writes. `packaging/project.py` writes the authors and addresses of the packages. In the guides
and the README, every `$ lasthop` command of a `console` block and every `>>>` of a `pycon` block is
run. The output is inserted, so that no number there is typed by hand. TOML, CSV and text blocks
that begin with `# NAME` are files for the commands that follow. A line of three dots in an output
represents omitted lines, and is kept.
"""

import sys
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(DOCS), str(ROOT / "packaging")]

import access_points  # noqa: E402
import manual  # noqa: E402
import project  # noqa: E402
import reference  # noqa: E402
import scenario_pages  # noqa: E402
import tables  # noqa: E402
import transcripts  # noqa: E402
import two_classes_page  # noqa: E402
import verdicts  # noqa: E402

from lasthop.cli.completion.table import completion_page  # noqa: E402

PAGES: dict[str, Callable[[], str]] = {
    "docs/reference/cli.md": reference.cli_page,
    "docs/nomenclature.md": reference.nomenclature_page,
    "docs/reference/claims.md": verdicts.claims_page,
    "docs/reference/two-classes.md": two_classes_page.page,
    "python/lasthop/cli/completion/words.json": completion_page,
    **scenario_pages.PAGES,
    "packaging/wheel/data/share/man/man1/lasthop.1": manual.page,
    **project.PAGES,
    **access_points.PAGES,
}
"""Functions that return the generated pages, by path."""

GUIDES = ("README.md", "docs/index.md", "docs/guide/*.md", "docs/python.md")
"""Patterns for the pages whose commands and examples are run."""


def guides() -> list[Path]:
    """Return the pages whose commands and examples are run, in order."""
    return [path for pattern in GUIDES for path in sorted(ROOT.glob(pattern))]


def rests_on_linear_algebra(path: Path) -> bool:
    """Return whether a page shows numbers from linear algebra, whose last bits depend on the
    processor.
    """
    return "$ lasthop stability" in path.read_text("utf-8")


def with_results() -> dict[Path, str]:
    """Return the updated texts of the pages whose verdicts and tables come from stored runs."""
    pages = verdicts.paper_pages(DOCS / "papers")
    for name in tables.OF_PAGES:
        path = DOCS / name
        pages[path] = tables.filled(name, pages.get(path) or path.read_text("utf-8"))
    return pages


def current() -> dict[Path, str]:
    """Return the up-to-date text of each page."""
    pages = {ROOT / name: write() for name, write in PAGES.items()}
    pages |= with_results()
    return pages | {path: transcripts.refreshed(path.read_text("utf-8")) for path in guides()}


def main() -> None:
    """Write each page that is out of date, and print its name."""
    for path, text in current().items():
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
