"""The people and addresses of `packaging/project.toml`, and the README of packages."""

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
    """Return the complete project in which a field has another value."""
    table, _, key = field.rpartition(".")
    return {**FULL, "urls": {**FULL["urls"], key: value}} if table else {**FULL, key: value}


def targets(tokens: Iterable[Token]) -> Iterator[str]:
    """Return the targets of all links and pictures in Markdown or HTML."""
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


def person(**fields: object) -> list[dict[str, object]]:
    """Return a list of one person with these fields."""
    return [{"name": "C. Maintainer", "email": "c@example.org", **fields}]


LINK = FULL["files"]["link"]
WRONG: list[tuple[str, dict[str, Any]]] = [
    *(
        (f"{key}[0].name", {**FULL, key: person(name=name)})
        for key in ("authors", "maintainers")
        for name in ("", " ", "a ", "a\nDepends: b", "a\x00", "a\u2028b", "a <b>", "a>", 3, ["a"])
    ),
    *(
        (f"{key}[0].email", {**FULL, key: person(email=email)})
        for key in ("authors", "maintainers")
        for email in (
            "",
            "a",
            "@",
            "a@",
            "@b.org",
            "a@b@c",
            "a @b.org",
            "a@b.org\n",
            "<a@b.org>",
            3,
        )
    ),
    ("authors[0].mail", {**FULL, "authors": person(mail="a@b.org")}),
    ("authors[0].name", {**FULL, "authors": [{"email": "a@b.org"}]}),
    ("maintainers[0].email", {**FULL, "maintainers": [{"name": "C. Maintainer"}]}),
    ("authors[0]", {**FULL, "authors": ["A. Author"]}),
    ("authors", {**FULL, "authors": "A. Author"}),
    ("maintainers", {**FULL, "maintainers": {"name": "C. Maintainer"}}),
    *(
        (f"urls.{key}", without(f"urls.{key}", value))
        for key in ("source", "security")
        for value in (
            *("http://a.org", "a.org", "https://", "https://a.org/", "mailto:", "mailto:a", " "),
            *(f"https://a.org/b{mark}c" for mark in "\"'<>()[]{} \n\x7f"),
            *("mailto:a@b@c", "mailto:a b@c", "mailto:<a@b>", "https://<a>", "https://a b", 3, []),
        )
    ),
    ("urls.source", without("urls.source", "mailto:a@b.org")),
    ("urls.home", without("urls.home", "https://a.org")),
    ("urls", {**FULL, "urls": "https://a.org"}),
    *(
        ("files.link", {**FULL, "files": {**FULL["files"], "link": form}})
        for form in (
            *("", 3, "{source}", "{source}/{tag}", "{source}/{path}", "https://a.org/{tag}/{path}"),
            *(f"{LINK}{wrong}" for wrong in ("{host}", "{}", "{", "}", "{tag!r}", " ", '"', ")")),
            LINK.replace("{", "{{").replace("}", "}}"),
        )
    ),
    ("files.picture", {**FULL, "files": {"link": LINK}}),
    ("files.image", {**FULL, "files": {**FULL["files"], "image": LINK}}),
    ("files", {**FULL, "files": []}),
    ("author", {**FULL, "author": []}),
    ("a\\nb", {**FULL, "a\nb": 1}),
]


@pytest.mark.parametrize(("key", "tree"), WRONG)
def test_a_wrong_value_is_named(key: str, tree: dict[str, Any]) -> None:
    [line] = project.faults(tree)
    assert line.startswith(f"packaging/project.toml: `{key}`: ")
    assert ": expected " in line
    assert line.isprintable()


def test_correct_and_empty_values_have_no_fault() -> None:
    assert list(project.faults(FULL)) == []
    assert list(project.faults({**EMPTY, "files": FULL["files"]})) == []
    people = person(name="Zoë O'Hara, Jr.", email="zoe.o'hara+net@mail.example.org")
    assert list(project.faults({**FULL, "authors": people})) == []
    for address in ("https://git.example.org:8443/~a/b", "https://a.org/b?c=d&e=%20#f"):
        assert list(project.faults(without("urls.issues", address))) == []
    for form in ("{source}/-/raw/{tag}/{path}", "{source}/plain/{path}?h={tag}"):
        assert list(project.faults({**FULL, "files": {"link": form, "picture": form}})) == []


@pytest.mark.parametrize("command", ["release", "maintainer", "readme"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            b"authors = 1\nurl = 2\n",
            ["`url`: unknown", "`authors`: 1: expected a list", *["`fi"] * 2],
        ),
        (b"authors = [\n", ["not valid TOML: "]),
        (b"\xff", ["not valid TOML: "]),
    ],
)
def test_each_command_refuses_a_wrong_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    text: bytes,
    expected: list[str],
) -> None:
    (tmp_path / "packaging").mkdir()
    (tmp_path / "packaging/project.toml").write_bytes(text)
    monkeypatch.setattr(project, "ROOT", tmp_path)
    assert project.main(command) == 2
    out, err = capsys.readouterr()
    assert out == ""
    for line, begin in zip(err.splitlines(), expected, strict=True):
        assert line.startswith(f"error: packaging/project.toml: {begin}")


def test_a_byte_order_mark_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "packaging/project.toml").read_text("utf-8")
    (tmp_path / "packaging").mkdir()
    (tmp_path / "packaging/project.toml").write_text(text, "utf-8-sig")
    expected = project.load()
    monkeypatch.setattr(project, "ROOT", tmp_path)
    assert project.load() == expected


@pytest.mark.parametrize("arguments", [(), ("foo",), ("release", "readme")])
def test_wrong_arguments_print_the_usage(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert project.main(*arguments) == 2
    assert capsys.readouterr() == ("", "usage: project.py release|maintainer|readme\n")


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
    # the address `security` is an e-mail address, which the package index does not accept
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


def test_the_conda_package_needs_what_the_recommended_extras_install() -> None:
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text("utf-8")
    run = recipe.partition("\n  run:\n")[2].partition("\n\n")[0]
    needed = re.findall(r"^    - (?!python )(\S+ \S+)$", run, re.M)
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = metadata["optional-dependencies"]
    given = {*metadata["dependencies"], *extras["science"], *extras["models"]}
    assert {each.replace(" ", "").replace("-base", "") for each in needed} == given


def test_the_container_has_the_recommended_extras_by_default() -> None:
    file = (ROOT / "packaging" / "Dockerfile").read_text("utf-8")
    guide = (ROOT / "docs" / "guide" / "install.md").read_text("utf-8")
    [extras] = re.findall(r"^ARG EXTRAS=(\S+)$", file, re.M)
    assert f'pip install "lasthop[{extras}]"' in guide
    [command] = re.findall(r"^\$ (docker run .*)$", guide, re.M)
    assert command in file
    assert (ROOT / command.split()[-1]).is_file()


def test_the_install_guide_names_the_platforms_of_the_wheels() -> None:
    guide = (ROOT / "docs" / "guide" / "install.md").read_text("utf-8")
    targets = (ROOT / "packaging" / "targets").read_text("utf-8").partition("tags")[0]
    platforms = {*re.findall(r"^    \[(\S+)\]=", targets, re.M)}
    named = guide.partition("## If pip does not find lasthop")[2].partition("\n## ")[0]
    assert {*re.findall(r"(?:linux|macos|windows)-\w+", named)} == platforms


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/guide/install.md"])
def test_the_first_installation_is_in_a_virtual_environment(page: str) -> None:
    commands = re.findall(r"^\$ (.*)$", (ROOT / page).read_text("utf-8"), re.M)
    assert commands[:3] == [
        "python3 -m venv lasthop-env",
        ". lasthop-env/bin/activate",
        'pip install "lasthop[science,models]"',
    ]
