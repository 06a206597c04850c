"""Faults of prose that a script can find, in all text that users read.

    prose.py [FILE ...]       check these files, or all; exit with 1 if there is a fault

The words to avoid, files that a program writes, and exceptions with their reasons are in
`prose.toml`, next to this file. A sentence has at most `MAX_WORDS` words, and at most `LONG_PART`
of the sentences of a file have more than `LONG_WORDS`.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parent

MAX_WORDS = 35
"""A longer sentence is a fault. [words]"""

LONG_WORDS = 25
"""A longer sentence is counted. [words]"""

LONG_PART = 0.1
"""Largest part of the sentences of a file that may be longer than `LONG_WORDS`. [-]"""

FEW = 10
"""In a file with fewer sentences one long sentence is no fault. [-]"""

MAX_COLUMNS = 100
"""Prose is wrapped at this width. [characters]"""

MAX_EXCEPTIONS = 100
"""There are fewer exceptions than this. [-]"""

QUESTION = r"(?![^.;]*\?)"
HEADLESS = re.compile(
    rf"(?:^|[;:,(] |\b(?:and|or|that|so|if|than|where) )(?:[Ww]ho|[Ww]hoever|[Ww]hose) \w{QUESTION}"
)
"""A clause whose subject is "who" or "whose", without a noun before it."""

BEGINNING = re.compile(
    rf"(?:What|Who|Whose|Whoever) {QUESTION}|(?:The same|Likewise|Those|So many|Of|As)\b"
)
"""How no sentence begins, except for a question."""


class Passage(NamedTuple):
    """A paragraph, item, heading or cell of prose."""

    line: int
    text: str


class Fault(NamedTuple):
    """A fault, with its place and the sentence."""

    file: str
    line: int
    what: str
    sentence: str

    def __str__(self) -> str:
        shown = self.sentence if len(self.sentence) <= 100 else self.sentence[:99] + "…"
        return f"{self.file}:{self.line}: {self.what}: {shown}"


class Rules(NamedTuple):
    """What is checked, as `prose.toml` says."""

    words: dict[str, re.Pattern[str]]
    generated: frozenset[str]
    exceptions: list[dict[str, str]]


def rules(text: str) -> Rules:
    """Return the rules of a TOML file.

    Raises
    ------
    SystemExit
        If an exception has no reason, or there are too many.
    """
    tree = tomllib.loads(text)
    exceptions = tree.get("except", [])
    if any(each.keys() != {"file", "text", "reason"} for each in exceptions):
        raise SystemExit("prose.toml: an exception has `file`, `text` and `reason`")
    if len(exceptions) >= MAX_EXCEPTIONS:
        raise SystemExit(
            f"prose.toml: {len(exceptions)} exceptions: must be below {MAX_EXCEPTIONS}"
        )
    words = {name: re.compile(pattern) for name, pattern in tree["words"].items()}
    return Rules(words, frozenset(tree["generated"]), exceptions)


# Reading Markdown.

BEGIN_GENERATED = re.compile(r"<!-- (?:table|verdicts|begin)\b")
END_GENERATED = re.compile(r"<!-- end\b")
ITEM = re.compile(r"(?:[-*+]|\d+\.) ")
COMMENT = re.compile(r"<!--.*?-->")
TARGET = re.compile(r"\([\w.-]+\)=")
"""The name of a place, for links."""


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers; empty where code, comments and generated parts are."""
    is_code = is_generated = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
            yield number, ""
            continue
        if TARGET.fullmatch(line.strip()):
            line = ""
        if BEGIN_GENERATED.match(line):
            is_generated = True
        shown = not is_code and not is_generated and not line.startswith("    ")
        if END_GENERATED.match(line):
            is_generated = False
        yield number, COMMENT.sub("", line) if shown else ""


def passages(text: str) -> Iterator[Passage]:
    """Yield paragraphs, items, headings and cells of a Markdown file."""
    begun, parts = 0, list[str]()
    for number, line in [*prose_lines(text), (0, "")]:
        stripped = line.strip()
        is_item = bool(ITEM.match(stripped))
        is_new = not stripped or is_item or stripped.startswith(("#", "|", ">", "!["))
        if is_new and parts:
            yield Passage(begun, " ".join(parts))
            parts = []
        if stripped.startswith("|"):
            cells = (cell.strip() for cell in stripped.strip("|").split("|"))
            yield from (Passage(number, cell) for cell in cells if cell.strip("-: "))
        elif stripped:
            begun = begun if parts else number
            parts.append(ITEM.sub("", stripped, count=1) if is_item else stripped.lstrip("#> "))


def wide_lines(text: str) -> Iterator[Passage]:
    """Yield lines of prose that are too wide; tables, links and what has no blank are not."""
    for number, line in prose_lines(text):
        bare = line.lstrip()
        has_link = re.search(r"\]\(|https?://|^\[[^\]]+\]:", line)
        if len(line) > MAX_COLUMNS and not bare.startswith(("|", "!", "<")) and not has_link:
            yield Passage(number, line)


LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"``.+?``|`[^`]*`|\$[^$]+\$")
END = re.compile(r"(?<=[.!?])[\"')*]* +(?=[A-Z`\"*(\[])")


def sentences(text: str) -> list[str]:
    """Return the sentences of a passage, with code as one word and without addresses of links."""
    plain = CODE.sub("`x`", LINK.sub(r"\1", re.sub(r"<[^>]+>", " ", text)))
    some = (each.replace("**", "").strip() for each in END.split(plain))
    return [each for each in some if len(re.findall(r"[A-Za-z]{2,}", each)) >= 3]


# Faults.


def faults_of(sentence: str, words: dict[str, re.Pattern[str]]) -> Iterator[str]:
    """Yield what is wrong with a sentence."""
    if (count := len(sentence.split())) > MAX_WORDS:
        yield f"{count} words, at most {MAX_WORDS}"
    if HEADLESS.search(sentence):
        yield "a clause begins with who or whose: name the subject"
    if BEGINNING.match(sentence):
        yield f'begins with "{sentence.split()[0]}"'
    for name, pattern in words.items():
        if found := pattern.search(sentence):
            yield f'"{found[0]}": write {name}'


def check(name: str, text: str, rules: Rules) -> tuple[list[Fault], int, int]:
    """Return the faults of a Markdown file, and how many of how many sentences are long."""
    found = [
        Fault(name, line, f"{len(wide)} columns, at most {MAX_COLUMNS}", wide)
        for line, wide in wide_lines(text)
    ]
    excepted = [each["text"] for each in rules.exceptions if each["file"] == name]
    count = long = 0
    for line, passage in passages(text):
        for sentence in sentences(passage):
            count += 1
            long += len(sentence.split()) > LONG_WORDS
            if not any(part in sentence or part in passage for part in excepted):
                found += [
                    Fault(name, line, what, sentence) for what in faults_of(sentence, rules.words)
                ]
    if long > max(LONG_PART * count, 1 if count < FEW else 0):
        what = f"{long} of {count} sentences have more than {LONG_WORDS} words, at most a tenth"
        found.append(Fault(name, 1, what, ""))
    return found, long, count


def files(asked: Iterable[str], rules: Rules) -> list[str]:
    """Return the files to check, relative to the root."""
    names = list(asked)
    if not names:
        tracked = subprocess.run(
            ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        names = tracked.stdout.splitlines()
    return [name for name in names if not any(fnmatch(name, each) for each in rules.generated)]


def main(asked: list[str]) -> int:
    """Print faults, the part of long sentences, and return the exit code."""
    read = rules((HERE / "prose.toml").read_text("utf-8"))
    found, long, count = list[Fault](), 0, 0
    for name in files(asked, read):
        some, longer, of = check(name, (ROOT / name).read_text("utf-8"), read)
        found, long, count = found + some, long + longer, count + of
    for fault in found:
        print(fault)
    part = 100 * long / count if count else 0.0
    print(f"{count} sentences, {part:.1f} % with more than {LONG_WORDS} words, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
