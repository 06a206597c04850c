"""The people and addresses of `packaging/project.toml`, and README as packages have it."""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import project  # noqa: E402

EMPTY = project.complete({})
SOURCE = "https://example.org/group/lasthop"
FULL: dict[str, Any] = {
    **project.load(),
    "authors": [{"name": "A. Author"}, {"name": 'B "Bee" Author', "email": "b@example.org"}],
    "maintainers": [{"name": "C. Maintainer", "email": "c@example.org"}],
    "urls": {
        "homepage": "https://example.org",
        "documentation": "https://example.org/docs",
        "source": SOURCE,
        "issues": f"{SOURCE}/issues",
        "security": "mailto:security@example.org",
    },
}
FIELDS = ["authors", "maintainers", *(f"urls.{key}" for key in FULL["urls"])]


def without(field: str, value: object) -> dict[str, Any]:
    """The full project with another value of one field."""
    table, _, key = field.rpartition(".")
    return {**FULL, "urls": {**FULL["urls"], key: value}} if table else {**FULL, key: value}


def targets(tokens: Iterable[Token]) -> Iterator[str]:
    """The targets of all links and pictures, in Markdown or HTML."""
    for token in tokens:
        for value in (token.attrs.get("href"), token.attrs.get("src")):
            if value is not None:
                yield str(value)
        if token.type in ("html_block", "html_inline"):
            yield from re.findall(r'(?:href|src)="([^"]*)"', token.content)
        yield from targets(token.children or ())


def targets_of(text: str) -> list[str]:
    return list(targets(MarkdownIt("commonmark").parse(text)))


def test_relative_targets_of_readme_exist() -> None:
    names = [
        name for name in targets_of((ROOT / "README.md").read_text("utf-8")) if ":" not in name
    ]
    assert len(names) > 50
    assert [name for name in names if not (ROOT / name.partition("#")[0]).exists()] == []


def test_packages_have_readme_with_absolute_links() -> None:
    before = targets_of((ROOT / "README.md").read_text("utf-8"))
    after = targets_of(project.readme(FULL))
    tag = f"v{project.version()}"
    for old, new in zip(before, after, strict=True):
        kind = "raw" if old.endswith(".png") else "blob"
        path = f"README.md{old}" if old.startswith("#") else old
        assert new == (old if ":" in old else f"{SOURCE}/{kind}/{tag}/{path}")


def test_only_links_of_readme_change() -> None:
    def stripped(text: str) -> str:
        return re.sub(r'(\]\(|src=")[^)"]*', r"\1", text)

    assert stripped(project.readme(FULL)) == stripped(project.readme(EMPTY))


def test_readme_stays_the_same_without_an_address() -> None:
    assert project.readme(EMPTY) == (ROOT / "README.md").read_text("utf-8")


def test_code_is_not_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "```text\n[a](b)\n```\n"
    (tmp_path / "README.md").write_text(f"[a](b)\n{code}![a](b)\n")
    monkeypatch.setattr(project, "version", lambda: "1.2.3")
    monkeypatch.setattr(project, "ROOT", tmp_path)
    link, picture = f"{SOURCE}/blob/v1.2.3/b", f"{SOURCE}/raw/v1.2.3/b"
    assert project.readme(FULL) == f"[a]({link})\n{code}![a]({picture})\n"


def test_a_release_needs_all_values() -> None:
    assert project.problems(FULL) == []
    for field in FIELDS:
        empty = "" if "." in field else []
        expected = f"packaging/project.toml: `{field}`: empty: a release needs all values"
        assert project.problems(without(field, empty)) == [expected]
    [line] = project.problems(EMPTY)
    assert all(f"`{field}`" in line for field in FIELDS)


def test_a_wrong_value_is_named() -> None:
    for value in ("http://example.org", "example.org", "https://example.org/", "mailto:a@b.org"):
        [line] = project.problems(without("urls.source", value))
        assert line.startswith(f'packaging/project.toml: `urls.source`: "{value}": expected an')
    [line] = project.problems(without("maintainers", [{"name": "C. Maintainer"}]))
    assert "and `email` of maintainers" in line


def test_values_that_are_filled_in_are_valid() -> None:
    assert [line for line in project.problems(project.load()) if ": empty: " not in line] == []


def test_release_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(project, "load", lambda: without("urls.issues", ""))
    assert project.main("release") == 2
    expected = "error: packaging/project.toml: `urls.issues`: empty: a release needs all values\n"
    assert capsys.readouterr().err == expected


def test_release_is_refused_while_other_files_differ(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(project, "load", lambda: FULL)
    assert project.main("release") == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[1] for line in lines] == list(project.PAGES)


def test_python_package_gets_people_and_addresses() -> None:
    table = tomllib.loads(project.filled("pyproject.toml", FULL))["project"]
    assert table["authors"] == FULL["authors"]
    assert table["maintainers"] == FULL["maintainers"]
    # an address of mail is not accepted by the package index
    addresses = {key.capitalize(): url for key, url in FULL["urls"].items() if key != "security"}
    assert table["urls"] == addresses
    table = tomllib.loads(project.filled("pyproject.toml", EMPTY))["project"]
    assert table.keys().isdisjoint({"authors", "maintainers", "urls"})


def test_engine_gets_authors_and_repository() -> None:
    table = tomllib.loads(project.filled("crates/engine/Cargo.toml", FULL))["package"]
    assert table["authors"] == ["A. Author", 'B "Bee" Author <b@example.org>']
    assert (table["homepage"], table["repository"]) == ("https://example.org", SOURCE)
    table = tomllib.loads(project.filled("crates/engine/Cargo.toml", EMPTY))["package"]
    assert table.keys().isdisjoint({"authors", "homepage", "repository"})


def test_citation_and_debian_package_name_people() -> None:
    page = project.filled("CITATION.cff", FULL)
    authors = 'authors:\n  - name: "A. Author"\n  - name: "B \\"Bee\\" Author"\n'
    assert f'{authors}url: "https://example.org"\nrepository-code: "{SOURCE}"\n# end' in page
    assert project.debian_maintainer(FULL) == "C. Maintainer <c@example.org>"
    assert project.debian_maintainer(EMPTY) == "The lasthop developers"


def test_security_policy_names_the_contact() -> None:
    assert "\nReport it in private: <mailto:security@example.org>\n" in project.filled(
        "SECURITY.md", FULL
    )
    assert "Use the private report form" in project.filled("SECURITY.md", EMPTY)
