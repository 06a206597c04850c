"""Read `project.toml`, which contains the people and addresses of the project, and print the values
for packages.

project.py release      refuse a release while values are missing or files of `PAGES` differ
project.py maintainer   print the maintainer of the Debian package
project.py readme       print README.md with absolute links, for the packages

`make docs-pages` writes the values into the files of `PAGES`.
"""

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
NAME = "packaging/project.toml"

Project = Mapping[str, Any]

NOBODY = "The lasthop developers"
"""Author and maintainer if `project.toml` lists none."""

PEOPLE = ("authors", "maintainers")
URLS = ("homepage", "documentation", "source", "issues", "security")
MAILED = "mailto:"
USAGE = "usage: project.py release|maintainer|readme"

REGION = re.compile(
    r"^(?P<begin>(?:#|<!--) begin: from packaging/project\.toml.*\n)"
    r"(?P<text>(?:.*\n)*?)"
    r"(?P<end>(?:#|<!--) end)",
    re.MULTILINE,
)
"""Pattern for the lines of a file that `make docs-pages` writes."""

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TARGET = re.compile(
    r"(?P<before>(?P<picture>!\[[^]]*\]\(|\bsrc=\")|\]\(|\bhref=\")"
    r"(?P<path>[^\s()\":#]*)(?P<anchor>#[^\s()\"]*)?(?=[\s)\"])"
)
"""Pattern for a relative target of a link or picture, in Markdown or HTML."""


def load() -> Project:
    """Return the content of `project.toml`, in which missing values are empty.

    Raises `ValueError` with one fault per line.
    """
    try:
        tree = tomllib.loads((ROOT / NAME).read_text("utf-8-sig"))
    except ValueError as error:
        raise ValueError(f"{NAME}: not valid TOML: {error}") from None
    if wrong := list(faults(tree)):
        raise ValueError("\n".join(wrong))
    return complete(tree)


def complete(tree: Project) -> Project:
    """Return a project in which missing values are empty."""
    urls = dict.fromkeys(URLS, "") | tree.get("urls", {})
    return {"authors": [], "maintainers": [], **tree, "urls": urls}


def version() -> str:
    """Return the version of the Rust workspace."""
    tree = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))
    return str(tree["workspace"]["package"]["version"])


# Checks.


class Form(NamedTuple):
    """Format of a text value: its pattern, and its description in messages."""

    pattern: str
    expected: str

    def fits(self, value: object) -> bool:
        """Return whether a value is a text of this format, without control characters."""
        return (
            isinstance(value, str)
            and value.isprintable()
            and re.fullmatch(self.pattern, value) is not None
        )


HOST = r"[\w-]+(?:\.[\w-]+)*"
MAIL = rf"[^\s@<>()\[\]\\,;:\"]+@{HOST}"
IN_PATH = r"[^\s\"'`<>()\[\]{}\\]"
URL = rf"https://{HOST}(?::\d+)?(?:/{IN_PATH}*)?(?<!/)"

WEB = "an address that begins with https:// and does not end with a slash"
ADDRESS = Form(f"(?:{URL})?", WEB)
TEMPLATE = Form(
    rf"(?=.*{{tag}})(?=.*{{path}}){{source}}(?:{IN_PATH}|{{tag}}|{{path}})*",
    "{source} at the beginning, and {tag} and {path} after it",
)
FORMS: dict[str, dict[str, Form]] = {
    "person": {
        "name": Form(r"(?=\S)[^<>]+(?<=\S)", "a name on one line, without < and >"),
        "email": Form(MAIL, "NAME@HOST"),
    },
    "urls": {
        **dict.fromkeys(URLS, ADDRESS),
        "security": Form(f"(?:{URL}|{MAILED}{MAIL})?", f"{MAILED}NAME@HOST, or {WEB}"),
    },
    "files": {"link": TEMPLATE, "picture": TEMPLATE},
}
"""Keys of each table, with the formats of their values."""


def faults(tree: Project) -> Iterator[str]:
    """Yield a line for each key of `project.toml` that is unknown, missing or has a wrong
    format.
    """
    yield from unknown("", tree, (*PEOPLE, "urls", "files"))
    for key in PEOPLE:
        people = tree.get(key, [])
        if not isinstance(people, list):
            yield fault(key, shown(people), "a list of tables")
            continue
        needed = ("name", "email") if key == "maintainers" else ("name",)
        for index, person in enumerate(people):
            yield from table_faults(f"{key}[{index}]", person, FORMS["person"], needed)
    yield from table_faults("urls", tree.get("urls", {}), FORMS["urls"])
    yield from table_faults("files", tree.get("files", {}), FORMS["files"], FORMS["files"])


def table_faults(
    key: str, table: object, forms: Mapping[str, Form], needed: Iterable[str] = ()
) -> Iterator[str]:
    """Yield the faults of a table."""
    if not isinstance(table, dict):
        yield fault(key, shown(table), f"a table with {', '.join(forms)}")
        return
    yield from unknown(f"{key}.", table, forms)
    for name in needed:
        if name not in table:
            yield fault(f"{key}.{name}", "missing", forms[name].expected)
    for name, form in forms.items():
        if name in table and not form.fits(table[name]):
            yield fault(f"{key}.{name}", shown(table[name]), form.expected)


def unknown(prefix: str, table: Project, names: Iterable[str]) -> Iterator[str]:
    """Yield a line for each unknown key of a table."""
    for key in sorted(table.keys() - set(names)):
        yield fault(f"{prefix}{shown(key)[1:-1]}", "unknown key", f"one of {', '.join(names)}")


def shown(value: object) -> str:
    """Return a value as TOML, on one line of ASCII characters."""
    return json.dumps(value, default=str)


def fault(key: str, wrong: str, expected: str) -> str:
    """Return the message about a wrong key or value."""
    return f"{NAME}: `{key}`: {wrong}: expected {expected}"


def problems(project: Project) -> list[str]:
    """Return one line that lists the values that are empty although a release needs them, or no
    line if there are none.
    """
    empty = [key for key in PEOPLE if not project[key]]
    empty += [f"urls.{key}" for key in URLS if not project["urls"][key]]
    keys = ", ".join(f"`{key}`" for key in empty)
    return [f"{NAME}: {keys}: empty: a release needs all values"] if empty else []


def outdated() -> list[str]:
    """Return a line for each file whose values differ from `project.toml`."""
    return [
        f"{name}: differs from {NAME}: run `make docs-pages`"
        for name, page in PAGES.items()
        if (ROOT / name).read_text("utf-8") != page()
    ]


# Values in the formats of other files.


def debian_maintainer(project: Project) -> str:
    """Return the value of the field `Maintainer` for the Debian package."""
    return next(map(mailbox, project["maintainers"]), NOBODY)


def mailbox(person: Mapping[str, str]) -> str:
    """Return a person as `NAME <EMAIL>`."""
    name, email = person["name"], person.get("email")
    return f"{name} <{email}>" if email else name


def quoted(value: str) -> str:
    """Return a string in quotation marks, as TOML and YAML write it."""
    return json.dumps(value, ensure_ascii=False)


def python_lines(project: Project) -> Iterator[str]:
    """Yield the lines of `[project]` in pyproject.toml."""
    for key in PEOPLE:
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
    """Yield the private contact for SECURITY.md."""
    contact = project["urls"]["security"]
    yield f"Report it in private: <{contact}>" if contact else NO_CONTACT


LINES: dict[str, Callable[[Project], Iterator[str]]] = {
    "pyproject.toml": python_lines,
    "crates/engine/Cargo.toml": crate_lines,
    "CITATION.cff": citation_lines,
    "SECURITY.md": security_lines,
}
"""Functions that yield the generated lines of each file."""


def filled(name: str, project: Project | None = None) -> str:
    """Return the text of a file of `LINES`, updated with the values of the project."""
    wanted = "".join(f"{line}\n" for line in LINES[name](load() if project is None else project))
    text, count = REGION.subn(
        lambda region: region["begin"] + wanted + region["end"], (ROOT / name).read_text("utf-8")
    )
    if count != 1:
        raise ValueError(f"{name} has {count} places for values of {NAME}")
    return text


PAGES: dict[str, Callable[[], str]] = {name: partial(filled, name) for name in LINES}
"""Functions that return the updated texts of the files."""


# The long description of the packages.


def readme(project: Project) -> str:
    """Return README.md with absolute links. If `urls.source` is empty, the links stay relative."""
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


def refusals(command: str) -> list[str]:
    """Return the reasons why a command is refused, one per line."""
    try:
        project = load()
    except ValueError as error:
        return str(error).split("\n")
    return (problems(project) or outdated()) if command == "release" else []


def main(*arguments: str) -> int:
    """Print the output of a command. Return 2 if the command is refused."""
    if arguments not in (("release",), ("maintainer",), ("readme",)):
        print(USAGE, file=sys.stderr)
        return 2
    [command] = arguments
    wrong = refusals(command)
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    if wrong:
        return 2
    if command == "maintainer":
        print(debian_maintainer(load()))
    elif command == "readme":
        sys.stdout.write(readme(load()))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
