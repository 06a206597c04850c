"""Find the parts of `make test-long` that are due. A part is due if the hash of the files that it
covers has changed.

long.py due             print the parts whose files have changed since they last passed, and on
                        standard error the command that runs them
long.py begin PART      store the hash of the part's files; called before the part runs
long.py passed PART     write that hash to long.toml; called only after the part has passed
"""

import hashlib
import shlex
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / ".ci/long.toml"
"""Hash, date and duration of the last run of each part that passed."""

BEGUN = ROOT / "target/long"
"""Folder with hash and start time of each part in progress."""

MAX_MINUTES = 40
"""Longest wall time of a part, on two quiet cores. [min]"""

ENGINE = ("Cargo.toml", "Cargo.lock", "crates/engine")
PYTHON = (
    "python/lasthop",
    "pyproject.toml",
    "requirements.lock",
    "crates",
    "Cargo.toml",
    "Cargo.lock",
)
TESTS = (":(glob)tests/*", "tests/samples", "bench", "docs", "examples", "README.md")
"""Files that tests of several folders read: common files, samples, benchmarks, pages and
scenarios.
"""

COVERS = {
    "laws": ENGINE,
    "rust": (*PYTHON, "examples/parts", "bench", "examples/hotspot.toml"),
    "python": (
        *PYTHON,
        *TESTS,
        "tests/python",
        "tests/determinism",
    ),
    "validation": (*PYTHON, *TESTS, "tests/validation", "tests/equations"),
    "kernel": (*PYTHON, *TESTS, "tests/linux"),
    "tcp": (
        *ENGINE,
        "crates/emulator",
        "crates/python",
        "python/lasthop/emulation",
        "python/lasthop/linux",
        "bench",
    ),
    "packages": (*PYTHON, "packaging", "workbench", "examples", "README.md", "LICENSE-MIT"),
}
"""Files and folders that each part covers, as git patterns."""


def files_of(part: str) -> list[str]:
    """Return the files that a part covers, tracked or new, sorted by name."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    listed = subprocess.run([*command, *COVERS[part]], cwd=ROOT, capture_output=True, check=True)
    names = {name.decode() for name in listed.stdout.split(b"\0") if name}
    return sorted(name for name in names if (ROOT / name).is_file())


def hash_of(part: str) -> str:
    """Return a hash of the names and contents of the files that a part covers."""
    total = hashlib.sha256()
    for name in files_of(part):
        content = hashlib.sha256((ROOT / name).read_bytes()).hexdigest()
        total.update(f"{name}\0{content}\n".encode())
    return total.hexdigest()


def recorded() -> dict[str, dict[str, object]]:
    """Return the content of long.toml: the last successful run of each part."""
    return tomllib.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}


def due() -> int:
    """Print the parts that are due, one per line, then the command that runs them."""
    parts = []
    for part in COVERS:
        entry = recorded().get(part)
        if entry is None:
            print(f"{part}: has never passed")
        elif entry["hash"] != hash_of(part):
            print(f"{part}: its files have changed since it passed on {entry['passed']}")
        else:
            continue
        parts.append(part)
    if parts:
        # Standard output has only the parts. The command is printed on standard error.
        # Without the flush, the command could precede the parts if both streams go to one pipe.
        sys.stdout.flush()
        print(f"run: make test-long PART={shlex.quote(' '.join(parts))}", file=sys.stderr)
    return 0


def begin(part: str) -> int:
    """Store the hash of the files that a part covers, and the start time."""
    BEGUN.mkdir(parents=True, exist_ok=True)
    (BEGUN / part).write_text(f"{hash_of(part)} {time.time():.0f}")
    return 0


def passed(part: str) -> int:
    """Write the stored hash to long.toml, unless a covered file changed while the part ran."""
    begun, began_s = (BEGUN / part).read_text().split()
    minutes = (time.time() - float(began_s)) / 60
    print(f"part {part}: passed in {minutes:.0f} minutes")
    if minutes > MAX_MINUTES:
        print(f"warning: part {part} took more than {MAX_MINUTES} minutes")
    if hash_of(part) != begun:
        print(f"part {part}: its files changed while it ran; it stays due")
        return 0
    entries = recorded()
    entries[part] = {
        "hash": begun,
        "passed": time.strftime("%Y-%m-%d"),
        "minutes": round(minutes, 1),
    }
    lines = [
        "# Date of the last pass of each part of `make test-long`, and a hash of its files.",
        "# Written by long.py.",
    ]
    for name in COVERS:
        if name in entries:
            lines += ["", f"[{name}]"]
            lines += [
                f"{key} = {value!r}".replace("'", '"') for key, value in entries[name].items()
            ]
    RECORD.write_text("\n".join(lines) + "\n", "utf-8")
    return 0


def main(arguments: list[str]) -> int:
    """Run one of the commands."""
    match arguments:
        case ["due"]:
            return due()
        case ["begin", part] if part in COVERS:
            return begin(part)
        case ["passed", part] if part in COVERS:
            return passed(part)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
