"""Identifiers of all tests of `make test` and `make test-long`, to compare two checkouts.

    python tests/inventory.py list > FILE            in a checkout, after `make test`
    python tests/inventory.py compare BEFORE AFTER   two such files

`compare` prints the identifiers that are only in BEFORE. It fails if such an identifier matches no
pattern in `removed.toml`. This file, in the same folder, has a reason for each pattern.
"""

import fnmatch
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
REMOVED = TESTS / "removed.toml"


def output_of(*command: str, folder: Path = ROOT) -> str:
    """Return the standard output of a command; its errors go to the terminal."""
    environment = {**os.environ, "SEED": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, check=True
    )
    return done.stdout


def pytest_identifiers() -> Iterator[str]:
    """Yield the node ids of pytest's tests, including those that are not run by default."""
    command = (sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "", "tests")
    yield from (line for line in output_of(*command).splitlines() if "::" in line)


def rust_identifiers() -> Iterator[str]:
    """Yield the paths of Rust's tests, each with the source file of its test program as a
    prefix.
    """
    build = ("cargo", "test", "--workspace", "--no-run", "--quiet", "--message-format=json")
    for line in output_of(*build).splitlines():
        message = json.loads(line)
        if message.get("executable") and message["profile"]["test"]:
            source = Path(message["target"]["src_path"]).relative_to(ROOT)
            for test in output_of(message["executable"], "--list", "--format=terse").splitlines():
                yield f"{source}: {test.removesuffix(': test')}"
    for test in output_of("cargo", "test", "--workspace", "--doc", "--", "--list").splitlines():
        if test.endswith(": test"):
            yield "doc: " + re.sub(r" \(line \d+\): test$", "", test)


def page_identifiers() -> Iterator[str]:
    """Yield the names of the tests that Node runs."""
    for line in output_of("npm", "test", "--silent", folder=ROOT / "workbench").splitlines():
        if line.startswith("# Subtest: "):
            yield f"workbench: {line.removeprefix('# Subtest: ')}"


def missing(before: Iterable[str], after: Iterable[str]) -> list[str]:
    """Return the identifiers that are only in the first list."""
    return sorted({*before} - {*after})


def reason_for(test: str, reasons: dict[str, str]) -> str | None:
    """Return the reason of the first pattern that matches the test. Brackets in patterns are
    literal.
    """
    for pattern, reason in reasons.items():
        if fnmatch.fnmatchcase(test, pattern.replace("[", "[[]")):
            return reason
    return None


def compare(before: Path, after: Path) -> int:
    """Print the missing identifiers with their reasons; return the exit status."""
    reasons: dict[str, str] = tomllib.loads(REMOVED.read_text("utf-8"))["removed"]
    old, new = (path.read_text("utf-8").splitlines() for path in (before, after))
    gone = missing(old, new)
    unexplained = 0
    for test in gone:
        reason = reason_for(test, reasons)
        unexplained += reason is None
        print(f"{test}: {reason or 'NO REASON in tests/removed.toml'}")
    added = len({*new} - {*old})
    print(f"before {len({*old})}, after {len({*new})}, missing {len(gone)}, new {added}")
    return 1 if unexplained else 0


def main(arguments: list[str]) -> int:
    """Run the command `list` or `compare`."""
    match arguments:
        case ["list"]:
            print(
                "\n".join(sorted({*pytest_identifiers(), *rust_identifiers(), *page_identifiers()}))
            )
            return 0
        case ["compare", before, after]:
            return compare(Path(before), Path(after))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
