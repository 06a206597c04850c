"""The documentation as a site: links that work for readers, pictures, and no network access."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))

import guide_figures  # noqa: E402
import offline  # noqa: E402

PAGES = [ROOT / "README.md", *DOCS.rglob("*.md")]
GUIDES = sorted(path.name for path in (DOCS / "guide").glob("*.md"))
PICTURE = re.compile(r"!\[([^]]*)\]\(([^)]+\.png)\)|<img src=\"([^\"]+)\"[^>]*alt=\"([^\"]*)\"")


def pictures(page: Path) -> list[tuple[str, Path]]:
    """Return the description and the file of each picture on a page."""
    return [
        (match[1] or match[4] or "", (page.parent / (match[2] or match[3])).resolve())
        for match in PICTURE.finditer(page.read_text("utf-8"))
    ]


def test_every_picture_exists_and_has_a_description() -> None:
    shown = [(page.name, *each) for page in PAGES for each in pictures(page)]
    assert len(shown) > 25
    assert [(page, file.name) for page, _, file in shown if not file.is_file()] == []
    assert [(page, file.name) for page, words, file in shown if len(words.split()) < 5] == []


def test_every_picture_of_the_guide_is_drawn_by_a_run_and_shown() -> None:
    shown = {file.stem for page in PAGES for _, file in pictures(page)}
    assert set(guide_figures.PICTURES) <= shown


def test_pictures_come_from_files_of_the_pages() -> None:
    assert "station.up" in guide_figures.scenario("sweep", "buffer")
    with pytest.raises(ValueError, match=r"sweep\.md shows no nothing\.toml"):
        guide_figures.scenario("sweep", "nothing")


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_page_begins_with_install_scenario_command_picture_and_links(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    steps = [
        'pip install "lasthop[science,models]"',
        "```toml\n# hotspot.toml",
        "$ lasthop compare hotspot.toml",
        "hotspot-compare.png",
        "ou run a hot-spot",
        "ou do research",
        "ou teach",
    ]
    places = [text.index(step) for step in steps]
    assert places == sorted(places)
    assert "install.md#if-pip-does-not-find-lasthop" in text
    assert "make demo" in text
    assert "make test" in text


def test_the_extra_that_is_installed_exists() -> None:
    assert re.search(r"^science = \[", (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    assert re.search(r"^wheel:", (ROOT / "Makefile").read_text("utf-8"), re.M)


@pytest.mark.parametrize("name", GUIDES)
def test_every_guide_page_is_reachable_from_the_first_page(name: str) -> None:
    assert f"](docs/guide/{name})" in (ROOT / "README.md").read_text("utf-8")
    index = (DOCS / "index.md").read_text("utf-8")
    assert re.findall(r"^(guide/\S+)$", index, re.M).count(f"guide/{name[:-3]}") == 1


def test_links_between_pages_have_a_target() -> None:
    wrong = [
        (page.name, link)
        for page in PAGES
        for link in re.findall(
            r"\]\((?!https?:)([^)#\s]+\.(?:md|rst|png))", page.read_text("utf-8")
        )
        if not (page.parent / link).is_file()
    ]
    assert wrong == []


LOADED = [
    '<script defer="defer" src="https://cdn.example.org/mathjax.js">',
    '<link rel="stylesheet" type="text/css" href="//cdn.example.org/a.css" />',
    "<img alt=x src='http://example.org/a.png'>",
    '@import "https://example.org/font.css";',
    "@import url(https://example.org/font.css);",
    "src: url('https://example.org/a.woff2')",
]
FREE = [
    '<script src="_static/mathjax/tex-chtml.js">',
    '<a href="https://example.org/">elsewhere</a>',
    '<link rel="canonical" href="https://example.org/" />',
    '<link rel="stylesheet" href="../_static/pygments.css" />',
    '<img src="../_images/a.png">',
    "url(data:image/svg+xml;base64,AAAA)",
    '<svg xmlns="http://www.w3.org/2000/svg">',
]


@pytest.mark.parametrize("text", LOADED)
def test_external_resources_are_found(text: str) -> None:
    assert len(list(offline.loaded_from_elsewhere(text))) == 1


@pytest.mark.parametrize("text", FREE)
def test_links_and_files_of_the_site_are_not_external_resources(text: str) -> None:
    assert list(offline.loaded_from_elsewhere(text)) == []


def test_a_site_that_needs_a_network_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "index.html").write_text(LOADED[0] + '<script src="lost.js"></script>')
    monkeypatch.setattr(sys, "argv", ["offline.py", str(tmp_path)])
    with pytest.raises(SystemExit) as stopped:
        offline.main()
    assert str(stopped.value).splitlines() == [
        "the site needs a network:",
        "index.html: loads https://cdn.example.org/mathjax.js",
        "index.html: https://cdn.example.org/mathjax.js is not there",
        "index.html: lost.js is not there",
    ]
    (tmp_path / "index.html").write_text("".join(FREE[1:]))
    offline.main()
