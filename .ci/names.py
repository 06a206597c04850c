"""Find definitions with old names in Python, Rust and TypeScript.

    names.py             check all files; exit with 1 if there is a fault
    names.py --count     print how often each name of `limited` is defined in each file

A definition is the definition of a module, Rust file, class, function, field, parameter or
variable. The old names are in `names.toml`, next to this file. `crates/names` finds definitions in
Rust, and `workbench/names.mjs` finds definitions in TypeScript.
"""

import ast
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parent
RUST = ("cargo", "run", "--quiet", "--locked", "--package", "lasthop-names", "--")
TYPESCRIPT = ("node", "workbench/names.mjs")


class Definition(NamedTuple):
    """A defined name, with file and line of its definition."""

    file: str
    line: int
    name: str


class Rule(NamedTuple):
    """Old names, the names that replace them, and the files in which the old names are faults."""

    old: frozenset[str]
    new: str
    files: str


class Rules(NamedTuple):
    """The content of `names.toml`."""

    old: list[Rule]
    limited: dict[str, int]
    """Names of variables that may be defined at most a given number of times."""


def rules(text: str) -> Rules:
    """Return the rules of a TOML file."""
    tree = tomllib.loads(text)
    old = [
        Rule(frozenset(each["old"]), each["new"], each.get("files", "*")) for each in tree["name"]
    ]
    return Rules(old, dict.fromkeys(tree["limited"], tree["most"]))


def in_python(file: str, text: str) -> Iterator[Definition]:
    """Yield the definitions in a Python file."""
    yield Definition(file, 1, Path(file).stem)
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ClassDef(name) | ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                pass
            case ast.Name(name, ast.Store()) | ast.arg(name) | ast.alias(asname=str(name)):
                pass
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                pass
            case ast.ExceptHandler(name=str(name)) | ast.MatchMapping(rest=str(name)):
                pass
            case ast.Attribute(ast.Name("self"), name, ast.Store()):
                pass
            case _:
                continue
        yield Definition(file, node.lineno, name)


def listed(command: Sequence[str], files: Sequence[str]) -> Iterator[Definition]:
    """Yield the definitions that an external program finds in files.

    Raises
    ------
    SystemExit
        If the program fails.
    """
    run = subprocess.run(
        [*command, *files], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    if run.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {run.returncode}")
    for line in run.stdout.splitlines():
        place, name = line.rsplit(" ", 1)
        file, number = place.rsplit(":", 1)
        yield Definition(file, int(number), name)


def tracked(*patterns: str) -> list[str]:
    """Return the tracked files that match the patterns."""
    command = ["git", "ls-files", *patterns]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def definitions() -> Iterator[Definition]:
    """Yield all definitions of the repository."""
    for file in tracked("*.py"):
        yield from in_python(file, (ROOT / file).read_text("utf-8"))
    rust = tracked("*.rs")
    for file in rust:
        yield Definition(file, 1, Path(file).stem)
        yield Definition(file, 1, Path(file).name)
    yield from listed(RUST, rust)
    yield from listed(TYPESCRIPT, tracked("workbench/*.ts", "workbench/*.svelte"))


def faults(names: Iterable[Definition], known: Rules) -> Iterator[str]:
    """Yield faults: definitions with old names, and limited names with too many definitions."""
    places: dict[str, list[Definition]] = {}
    for each in names:
        for rule in known.old:
            if each.name in rule.old and fnmatch(each.file, rule.files):
                yield f"{each.file}:{each.line}: {each.name}: write {rule.new}"
        if each.name in known.limited:
            places.setdefault(each.name, []).append(each)
    for name, some in places.items():
        if len(some) > known.limited[name]:
            first = some[0]
            yield (
                f"{first.file}:{first.line}: {name}: defined {len(some)} times, at most "
                f"{known.limited[name]}: name the thing itself"
            )


def main(arguments: list[str]) -> int:
    """Print the faults, and return the exit code."""
    known = rules((HERE / "names.toml").read_text("utf-8"))
    names = list(definitions())
    if arguments == ["--count"]:
        count = Counter((each.file, each.name) for each in names if each.name in known.limited)
        for (file, name), number in sorted(count.items()):
            print(file, name, number)
        return 0
    lines = list(faults(names, known))
    print(*lines, f"{len(names)} names, {len(lines)} faults", sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
