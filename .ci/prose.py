"""Find faults of prose in all text that users read.

    prose.py [FILE ...]       check these files, or all; exit with 1 if there is a fault

In Markdown, all prose is checked. In Python, these are docstrings of public names, help texts and
messages. In Rust, they are the documentation of settings, and messages. In TOML, they are comments
and values. A message is any text of three words or more.

The words to avoid, files that a program writes, and exceptions with their reasons are in
`prose.toml`, next to this file. A sentence has at most `MAX_WORDS` words, and at most `LONG_PART`
of the sentences of a file have more than `LONG_WORDS`. For messages, only `MAX_WORDS` applies.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parent

MAX_WORDS = 35
"""Limit of a sentence's length. A longer sentence is a fault. [words]"""

LONG_WORDS = 25
"""Length above which a sentence counts as long. [words]"""

LONG_PART = 0.1
"""Largest accepted fraction of long sentences in a file. [-]"""

FEW = 10
"""Number of sentences below which a page may have one long sentence. [-]"""

FEW_IN_CODE = 20
"""Number of sentences below which source code may have any number of long sentences. [-]"""

MAX_COLUMNS = 100
"""Largest width of a line of prose. [characters]"""

MAX_EXCEPTIONS = 100
"""Limit of the number of exceptions. The number must be below this limit. [-]"""

QUESTION = r"(?!(?:[^.;]|\.\d)*\?)"
HEADLESS = re.compile(
    r"(?:(?:^|[;:,(] |\b(?:and|or|that|so|if|than|where) )[Ww]ho(?:ever)?"
    rf"|(?:^|[;:(] |\b(?:and|or|that|so|if|than|where) )[Ww]hose) \w{QUESTION}"
)
"""Pattern for a clause whose subject is "who" or "whose" without a noun."""

BEGINNING = re.compile(
    rf"(?:What|Who|Whose|Whoever) {QUESTION}|(?:The same|Likewise|Those|So many|Of)\b"
    r"|As\b(?! (?:many|much|few|of|soon|long|far)\b)"
)
"""Pattern for words with which no sentence may begin, unless the sentence is a question."""


NO_VERB = re.compile(
    r"(?:The|An?|All|Each|Every|No|None|Its?|This|These|What|Whose?|Whether|How|Where|When|Of|One|Two"
    r"|Some|Any|Both|Such|Names? of|Returns|Yields|Makes|Gives|Checks|Reads|Writes)\b"
)
"""Pattern for words with which the documentation of a function must not begin. The documentation
must begin with a verb in the imperative, such as "Return".
"""


class Passage(NamedTuple):
    """A paragraph, list item, heading or table cell of prose."""

    line: int
    text: str
    is_message: bool = False
    is_summary: bool = False
    """Whether the passage is the first paragraph of a function's documentation."""


class Fault(NamedTuple):
    """A fault, with its file, line and sentence."""

    file: str
    line: int
    what: str
    sentence: str

    def __str__(self) -> str:
        shown = self.sentence if len(self.sentence) <= 100 else self.sentence[:99] + "…"
        return f"{self.file}:{self.line}: {self.what}: {shown}"


class Rules(NamedTuple):
    """Rules of the check, which are read from `prose.toml`."""

    words: dict[str, re.Pattern[str]]
    messages: dict[str, re.Pattern[str]]
    """Patterns for words to avoid in messages, in addition to `words`."""
    generated: frozenset[str]
    documented: frozenset[str]
    """Python folders and files in which all docstrings are checked."""
    exceptions: list[dict[str, str]]


def rules(text: str) -> Rules:
    """Parse the rules in the text of a TOML file.

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
    words, messages = (
        {name: re.compile(pattern) for name, pattern in tree.get(part, {}).items()}
        for part in ("words", "messages")
    )
    generated, documented = (frozenset(tree.get(part, [])) for part in ("generated", "documented"))
    return Rules(words, messages, generated, documented, exceptions)


# Reading Markdown.

BEGIN_GENERATED = re.compile(r"<!-- (?:table|verdicts|begin)\b")
END_GENERATED = re.compile(r"<!-- end\b")
ITEM = re.compile(r"(?:[-*+]|\d+\.) ")
COMMENT = re.compile(r"<!--.*?-->")
TARGET = re.compile(r"\([\w.-]+\)=")
"""Pattern for an anchor, to which links can refer."""


FENCE = re.compile(r"\s*(`{3,})([^`]*)")
PROSE_IN_FENCE = re.compile(r"\{(?:note|tip|hint|important|warning|caution|seealso|admonition)\}")
"""Directives whose fences contain prose."""


class Fence(NamedTuple):
    """First line of a fenced block."""

    line: int
    marks: str
    is_code: bool


def fenced(text: str) -> Iterator[tuple[int, str, list[Fence]]]:
    """Yield each line with its number and the fenced blocks that contain it. For the first and the
    last line of a block, yield empty text.
    """
    fences = list[Fence]()
    for number, line in enumerate(text.splitlines(), 1):
        if fence := FENCE.fullmatch(line):
            marks, title = fence[1], fence[2].strip()
            if fences and not title and len(marks) >= len(fences[-1].marks):
                fences.pop()
            elif not any(each.is_code for each in fences):
                fences.append(Fence(number, marks, not PROSE_IN_FENCE.match(title)))
            line = ""
        yield number, line, fences


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with its number. Lines that are code, comments or generated are replaced by
    empty lines.
    """
    is_generated = is_list = is_block = False
    is_after_blank = True
    for number, line, fences in fenced(text):
        bare = line.strip()
        if TARGET.fullmatch(bare):
            line = ""
        if BEGIN_GENERATED.match(line):
            is_generated = True
        if bare:
            is_margin = is_after_blank and not line.startswith(" ")
            is_list = (is_list and not is_margin) or (not is_block and bool(ITEM.match(bare)))
            is_block = line.startswith("    ") and not is_list and (is_block or is_after_blank)
        is_after_blank = not bare
        shown = not any(each.is_code for each in fences) and not is_generated and not is_block
        if END_GENERATED.match(line):
            is_generated = False
        yield number, COMMENT.sub("", line) if shown else ""


def unclosed_fences(text: str) -> Iterator[int]:
    """Yield the first lines of fenced blocks that are not closed."""
    *_, (_, _, fences) = [(0, "", list[Fence]()), *fenced(text)]
    yield from (each.line for each in fences)


def passages(text: str) -> Iterator[Passage]:
    """Yield paragraphs, list items, headings and table cells of a Markdown file."""
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
    """Yield lines of prose that are too wide. Tables, links and lines without a blank are
    accepted.
    """
    for number, line in prose_lines(text):
        bare = line.lstrip()
        has_link = re.search(r"\]\(|https?://|^\[[^\]]+\]:", line)
        if len(line) > MAX_COLUMNS and not bare.startswith(("|", "!", "<")) and not has_link:
            yield Passage(number, line)


# Reading Python.

UNDERLINE = re.compile(r"-{3,}")
LISTS = ("Parameters", "Returns", "Yields", "Raises", "Attributes")
"""Sections of a numpydoc docstring whose unindented lines are names, not prose."""


def prose_of_docstring(text: str) -> str:
    """Return a docstring in which empty lines replace code, equations, names and section titles."""
    lines = text.splitlines()
    margin = min((len(each) - len(each.lstrip()) for each in lines[1:] if each.strip()), default=0)
    lines = [*lines[:1], *(line[margin:] for line in lines[1:])]
    section, block, is_example, prose = "", None, False, list[str]()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        bare, indent = line.strip(), len(line) - len(line.lstrip())
        is_example = bool(bare) and (is_example or bare.startswith(">>>"))
        if block is not None and bare and indent <= block:
            block = None
        is_title = not indent and bool(UNDERLINE.fullmatch(after))
        section = bare if is_title else section
        is_name = section in LISTS and not indent
        is_code = is_example or block is not None or bare.startswith(".. ")
        is_code |= indent >= 4 and section not in LISTS
        if bare.startswith(".. ") or bare.endswith("::"):
            block = indent
        is_prose = not (is_title or is_name or is_code or UNDERLINE.fullmatch(bare))
        prose.append(re.sub(r":[\w:]+:`", "`", bare) if is_prose else "")
    return "\n".join(prose)


class Docstring(NamedTuple):
    """A docstring, with the name that it documents."""

    node: ast.Constant
    text: str
    is_public: bool
    is_of_function: bool


def docstrings(node: ast.AST, is_public: bool = True) -> Iterator[Docstring]:
    """Yield the docstrings of a module, class or function, and of its members and attributes."""
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    decorators = " ".join(map(ast.unparse, getattr(node, "decorator_list", [])))
    is_verb = is_function and not re.search("property|setter", decorators)
    name = ""
    for statement in getattr(node, "body", []):
        match statement:
            case ast.Expr(ast.Constant(str(text)) as constant):
                is_shown = is_public and not name.startswith("_")
                yield Docstring(constant, text, is_shown, is_verb and not name)
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                is_member = is_public and not is_function and not statement.name.startswith("_")
                yield from docstrings(statement, is_member)
            case ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name)):
                pass


def literal(node: ast.AST) -> str | None:
    """Return the text of a string literal. In an f-string, a word replaces each placeholder. Return
    None for other nodes.
    """
    match node:
        case ast.JoinedStr(parts):
            return "".join(literal(each) or "x" for each in parts)
        case ast.Constant(str(text)):
            return text
    return None


def in_message(line: int, text: str) -> Iterator[Passage]:
    """Yield the parts of a message as passages: where, what is wrong, what is accepted."""
    for passage in passages(text):
        some = [passage.text] if "?" in passage.text else passage.text.split(": ")
        yield from (Passage(line, part, is_message=True) for part in some)


def in_python(text: str, is_documented: bool) -> Iterator[Passage]:
    """Yield docstrings of public names, help texts and messages as passages."""
    tree = ast.parse(text)
    own = list(docstrings(tree))
    for each in (each for each in own if is_documented and each.is_public):
        for line, prose, *_ in passages(prose_of_docstring(each.text)):
            is_summary = each.is_of_function and line == 1
            yield Passage(each.node.lineno + line - 1, prose, is_summary=is_summary)
    nodes: list[ast.AST] = [tree]
    skipped = {id(each.node) for each in own}
    while nodes:
        node = nodes.pop()
        if (message := literal(node)) is None:
            nodes += ast.iter_child_nodes(node)
        elif id(node) not in skipped:
            yield from in_message(getattr(node, "lineno", 1), message)


# Reading Rust.

TESTS = re.compile(r"^#\[cfg\(test\)\]\n(?:pub\S* )?mod \w+ \{\n.*?^\}", re.M | re.S)
TABLE = re.compile(r"^\s*(?:table|words)! \{$")
LITERAL = re.compile(r"//[^\n]*|'(?:\\.|[^'\\\n])'|\"((?:[^\"\\]|\\.)*)\"", re.S)
ESCAPE = re.compile(r"\\(?:\n\s*|(.))", re.S)
PLACEHOLDER = re.compile(r"\{\{|\}\}|\{[^{}]*\}")


def unescaped(escape: re.Match[str]) -> str:
    """Return the character that an escape sequence represents; empty for an escaped line end."""
    return {None: "", "n": "\n"}.get(escape[1], escape[1])


def in_rust(text: str) -> Iterator[Passage]:
    """Yield the documentation of settings, and messages, as passages."""
    text = TESTS.sub(lambda literal: "\n" * literal[0].count("\n"), text)
    lines, is_table = list[str](), False
    for each in text.splitlines():
        is_table = not each.startswith("}") if is_table else bool(TABLE.match(each))
        bare = each.strip()
        lines.append(bare[4:] if is_table and bare.startswith("/// ") else "")
    yield from passages("\n".join(lines))
    for literal in LITERAL.finditer(text):
        if (message := literal[1]) and message.count(" ") > 1:
            message = PLACEHOLDER.sub("x", ESCAPE.sub(unescaped, message))
            line = text.count("\n", 0, literal.start()) + 1
            yield from in_message(line, message)


# Reading TOML.

TOML = re.compile(r'"""|\'\'\'|"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|#+ ?(.*)')
"""Pattern that matches a comment, a string value, or three quotation marks that begin or end a
multi-line string."""


def in_toml(text: str) -> Iterator[Passage]:
    """Yield comments, string values and multi-line strings as passages.

    Comments inside a string between three apostrophes are also checked, since such a string is an
    example. A comment indented by three blanks is a command and is not checked.
    """
    lines, is_text = list[str](), False
    for number, line in enumerate(text.splitlines(), 1):
        bare, shown = line.strip(), ""
        if is_text:
            is_text = bare != '"""'
            shown = bare if is_text else ""
        elif bare.startswith("#"):
            shown = "" if bare.startswith("#   ") else bare.lstrip("# ")
        else:
            is_text = bare.endswith('"""')
            for match in TOML.finditer(line):
                value = match[1] or match[2] or match[3] or ""
                yield from in_message(number, value)
        lines.append(shown)
    for passage in passages("\n".join(lines)):
        yield from in_message(passage.line, passage.text)


# Sentences.

LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
ALT = re.compile(r"<img\b[^>]*?\balt=\"([^\"]*)\"")
CODE = re.compile(r"``.+?``|`[^`]*`|\$[^$]+\$")
END = re.compile(r"(?<=[.!?])[\"')*]* +(?=[A-Z`\"*(\[])")


def sentences(text: str) -> list[str]:
    """Return the sentences of a passage. Each piece of code is one word, and link addresses are
    removed.

    The alternative text of a picture is a separate sentence. Any white space becomes one blank.
    """
    plain = CODE.sub("`x`", LINK.sub(r"\1", re.sub(r"<[^>]+>", " ", text)))
    parts = (
        part for each in [*ALT.findall(text), plain] for part in END.split(" ".join(each.split()))
    )
    some = (each.replace("**", "").strip() for each in parts)
    return [each for each in some if len(re.findall(r"[A-Za-z]{2,}", each)) >= 3]


# Faults.


def faults_of(sentence: str, words: dict[str, re.Pattern[str]]) -> Iterator[str]:
    """Yield the faults of a sentence."""
    if (count := len(sentence.split())) > MAX_WORDS:
        yield f"{count} words, at most {MAX_WORDS}"
    if HEADLESS.search(sentence):
        yield "a clause begins with who or whose: name the subject"
    if BEGINNING.match(sentence):
        yield f'begins with "{sentence.split()[0]}"'
    for name, pattern in words.items():
        if match := pattern.search(sentence):
            yield f'"{match[0]}": write {name}'


def read(name: str, text: str, rules: Rules) -> Iterator[Passage]:
    """Yield the passages of a file, depending on its type."""
    if name.endswith(".py"):
        folder, _, module = name.rpartition("/")
        is_public = module == "__init__.py" or not module.startswith("_")
        yield from in_python(text, is_public and not rules.documented.isdisjoint({folder, name}))
    elif name.endswith(".rs"):
        yield from in_rust(text)
    elif name.endswith(".toml"):
        yield from in_toml(text)
    else:
        yield from passages(text)


class Checked(NamedTuple):
    """Result of checking one file."""

    faults: list[Fault]
    long: int
    """Number of long sentences in the file. [-]"""
    count: int
    """Number of sentences in the file. [-]"""
    used: set[str]
    """Texts of the exceptions that excused a fault in the file."""


def check(name: str, text: str, rules: Rules) -> Checked:
    """Check one file."""
    is_page = name.endswith(".md")
    all_faults = [
        Fault(name, line, f"{len(wide)} columns, at most {MAX_COLUMNS}", wide)
        for line, wide, *_ in (wide_lines(text) if is_page else ())
    ]
    if is_page:
        what = "a fence that is never closed"
        all_faults += [Fault(name, line, what, "") for line in unclosed_fences(text)]
    excepted = [each["text"] for each in rules.exceptions if each["file"] == name]
    used = set[str]()
    count = long = 0
    for passage in read(name, text, rules):
        words = rules.words | rules.messages if passage.is_message else rules.words
        parts = sentences(passage.text)
        faults = [(each, what) for each in parts for what in faults_of(each, words)]
        if passage.is_summary and (no_verb := NO_VERB.match(passage.text)):
            faults.append((passage.text, f'a function: begins with "{no_verb[0]}": write a verb'))
        for sentence, what in faults:
            excuses = {part for part in excepted if part in sentence or part in passage.text}
            used |= excuses
            if not excuses:
                all_faults.append(Fault(name, passage.line, what, sentence))
        if not passage.is_message:
            count += len(parts)
            long += sum(len(each.split()) > LONG_WORDS for each in parts)
    few, free = (FEW, 1) if is_page else (FEW_IN_CODE, count)
    if long > max(LONG_PART * count, free if count < few else 0):
        what = f"{long} of {count} sentences have more than {LONG_WORDS} words, at most a tenth"
        all_faults.append(Fault(name, 1, what, ""))
    return Checked(all_faults, long, count, used)


def unused(exceptions: Iterable[dict[str, str]], used: Mapping[str, set[str]]) -> Iterator[Fault]:
    """Yield a fault for each exception that excused no fault."""
    for each in exceptions:
        if each["text"] not in used.get(each["file"], ()):
            yield Fault(each["file"], 1, "unused exception", each["text"])


READ = (
    *("*.md", "python/lasthop/*.py", "crates/*/src/*.rs"),
    *("docs/*.py", "docs/*.toml", "examples/*.toml"),
)
"""Patterns of git for the files that are checked."""


def files(asked: Iterable[str], rules: Rules) -> list[str]:
    """Return the files to check, as paths relative to the root."""
    names = list(asked)
    if not names:
        tracked = subprocess.run(
            ["git", "ls-files", *READ], cwd=ROOT, capture_output=True, text=True, check=True
        )
        names = tracked.stdout.splitlines()
    is_test = re.compile(r"(?:^|/)tests?(?:/.*)?\.rs$")

    def is_read(name: str) -> bool:
        is_generated = any(fnmatch(name, each) for each in rules.generated)
        return not is_generated and not is_test.search(name)

    return list(filter(is_read, names))


def main(asked: list[str]) -> int:
    """Print the faults and the fraction of long sentences. Return the exit code."""
    read_rules = rules((HERE / "prose.toml").read_text("utf-8"))
    faults, long, count, used = list[Fault](), 0, 0, dict[str, set[str]]()
    for name in files(asked, read_rules):
        checked = check(name, (ROOT / name).read_text("utf-8"), read_rules)
        faults += checked.faults
        long, count = long + checked.long, count + checked.count
        used[name] = checked.used
    if not asked:
        faults += unused(read_rules.exceptions, used)
    for fault in faults:
        print(fault)
    part = 100 * long / count if count else 0.0
    print(
        f"{count} sentences, {part:.1f} % with more than {LONG_WORDS} words, {len(faults)} faults"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
