"""Read `project.toml`, the people and addresses of the project, and print what packages need of it.

project.py release      refuse a release while values are missing or other files differ
project.py maintainer   print the maintainer of the Debian package
project.py readme       print README.md with absolute links, for the packages

`make docs-pages` writes the values into the files of `PAGES`.
"""

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NAME = "packaging/project.toml"

Project = Mapping[str, Any]

NOBODY = "The lasthop developers"
"""Author and maintainer while the lists are empty."""

URLS = ("homepage", "documentation", "source", "issues", "security")
MAILED = "mailto:"

REGION = re.compile(
    r"^(?P<begin>(?:#|<!--) begin: from packaging/project\.toml.*\n)"
    r"(?P<text>(?:.*\n)*?)"
    r"(?P<end>(?:#|<!--) end)",
    re.MULTILINE,
)
"""The lines of a file that `make docs-pages` writes."""

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TARGET = re.compile(
    r"(?P<before>(?P<picture>!\[[^]]*\]\(|\bsrc=\")|\]\(|\bhref=\")"
    r"(?P<path>[^\s()\":#]*)(?P<anchor>#[^\s()\"]*)?(?=[\s)\"])"
)
"""A relative target of a link or picture in Markdown, or of its HTML."""


def load() -> Project:
    """Return the content of `project.toml`, in which missing values are empty."""
    return complete(tomllib.loads((ROOT / NAME).read_text("utf-8")))


def complete(tree: Project) -> Project:
    """Return a project with empty values instead of missing ones."""
    urls = dict.fromkeys(URLS, "") | tree.get("urls", {})
    return {"authors": [], "maintainers": [], **tree, "urls": urls}


def version() -> str:
    """Return the version of the workspace."""
    tree = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))
    return str(tree["workspace"]["package"]["version"])


# Checks.


def problems(project: Project) -> list[str]:
    """Return the reasons why `project.toml` is not good enough for a release, one per line."""
    people = ("authors", "maintainers")
    empty = [key for key in people if not project[key]]
    empty += [f"urls.{key}" for key in URLS if not project["urls"][key]]
    found = []
    if empty:
        keys = ", ".join(f"`{key}`" for key in empty)
        found.append(f"{NAME}: {keys}: empty: a release needs all values")
    for key in people:
        for person in project[key]:
            if not person.get("name") or (key == "maintainers" and not person.get("email")):
                found.append(
                    f"{NAME}: `{key}`: {person}: expected `name`, and `email` of maintainers"
                )
    for key, url in project["urls"].items():
        mailed = key == "security" and url.startswith(MAILED)
        if url and not mailed and not re.fullmatch(r"https://[^\s/]+(/\S*)?(?<!/)", url):
            expected = "an address that begins with https:// and does not end with a slash"
            found.append(f'{NAME}: `urls.{key}`: "{url}": expected {expected}')
    return found


def outdated() -> list[str]:
    """Return a line for each file whose values are not those of `project.toml`."""
    return [
        f"{name}: differs from {NAME}: run `make docs-pages`"
        for name, page in PAGES.items()
        if (ROOT / name).read_text("utf-8") != page()
    ]


# Values as other files need them.


def debian_maintainer(project: Project) -> str:
    """Return the field `Maintainer` of the Debian package."""
    return next(map(mailbox, project["maintainers"]), NOBODY)


def mailbox(person: Mapping[str, str]) -> str:
    """Return a person as `NAME <EMAIL>`."""
    name, email = person["name"], person.get("email")
    return f"{name} <{email}>" if email else name


def quoted(value: str) -> str:
    """Return a string as TOML and YAML write it."""
    return json.dumps(value, ensure_ascii=False)


def python_lines(project: Project) -> Iterator[str]:
    """Yield the lines of `[project]` in pyproject.toml."""
    for key in ("authors", "maintainers"):
        if project[key]:
            yield f"{key} = ["
            for person in project[key]:
                fields = (f"{name} = {quoted(value)}" for name, value in person.items())
                yield f"  {{ {', '.join(fields)} }},"
            yield "]"
    for key in URLS:
        url = project["urls"][key]
        if url and not url.startswith(MAILED):
            yield f"urls.{key.capitalize()} = {quoted(url)}"


def crate_lines(project: Project) -> Iterator[str]:
    """Yield the lines of `[package]` in the engine's Cargo.toml."""
    if project["authors"]:
        yield f"authors = [{', '.join(quoted(mailbox(each)) for each in project['authors'])}]"
    urls = project["urls"]
    for key, url in (("homepage", urls["homepage"]), ("repository", urls["source"])):
        if url:
            yield f"{key} = {quoted(url)}"


def citation_lines(project: Project) -> Iterator[str]:
    """Yield the lines of CITATION.cff."""
    yield "authors:"
    for person in project["authors"] or [{"name": NOBODY}]:
        yield f"  - name: {quoted(person['name'])}"
    urls = project["urls"]
    for key, url in (("url", urls["homepage"]), ("repository-code", urls["source"])):
        if url:
            yield f"{key}: {quoted(url)}"


NO_CONTACT = """\
Use the private report form of the repository host. The address of the repository is in
`project.urls` of the package, and `pip show --verbose lasthop` prints it. If the host has no such
form, open an issue that asks the maintainers for a private contact, and give no details in it."""


def security_lines(project: Project) -> Iterator[str]:
    """Yield the private contact, as SECURITY.md has it."""
    contact = project["urls"]["security"]
    yield f"Report it in private: <{contact}>" if contact else NO_CONTACT


LINES: dict[str, Callable[[Project], Iterator[str]]] = {
    "pyproject.toml": python_lines,
    "crates/engine/Cargo.toml": crate_lines,
    "CITATION.cff": citation_lines,
    "SECURITY.md": security_lines,
}
"""Functions that write the lines between the comments `begin` and `end` of each file."""


def filled(name: str, project: Project | None = None) -> str:
    """Return the text of a file of `LINES` with the values of the project."""
    wanted = "".join(f"{line}\n" for line in LINES[name](load() if project is None else project))
    text, count = REGION.subn(
        lambda region: region["begin"] + wanted + region["end"], (ROOT / name).read_text("utf-8")
    )
    if count != 1:
        raise ValueError(f"{name} has {count} places for values of {NAME}")
    return text


PAGES: dict[str, Callable[[], str]] = {name: partial(filled, name) for name in LINES}
"""Functions that return the files as they should be."""


# The long description of the packages.


def readme(project: Project) -> str:
    """Return README.md with absolute links, or with its own links while `urls.source` is empty."""
    text = (ROOT / "README.md").read_text("utf-8")
    source = project["urls"]["source"]
    if not source:
        return text
    tag = f"v{version()}"

    def absolute(target: re.Match[str]) -> str:
        form = project["files"]["picture" if target["picture"] else "link"]
        address: str = form.format(source=source, tag=tag, path=target["path"] or "README.md")
        return target["before"] + address + (target["anchor"] or "")

    parts, at = [], 0
    for code in FENCED.finditer(text):
        parts += [TARGET.sub(absolute, text[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*parts, TARGET.sub(absolute, text[at:])])


def main(command: str) -> int:
    """Print the answer to a command; return 2 if a release is refused."""
    project = load()
    if command == "release":
        found = problems(project) or outdated()
        for line in found:
            print(f"error: {line}", file=sys.stderr)
        return 2 if found else 0
    answers = {"maintainer": f"{debian_maintainer(project)}\n", "readme": readme(project)}
    sys.stdout.write(answers[command])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
