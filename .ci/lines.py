"""Count the production lines of lasthop. Blank lines, comments, docstrings and tests do not count.

lines.py             print the number of lines of each part, and the sum
lines.py REVISION    print the numbers of this revision too, and the differences
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PARTS = {
    "python/lasthop": r"python/lasthop/.*\.py",
    "crates": r"crates/.*\.rs",
    "workbench": r"workbench/src/.*\.(?:ts|svelte|css)",
}
"""Parts of the project, each with a pattern for the names of its files."""
TEST = re.compile(r"(?:^|/)(?:tests?|benches|examples|frozen)(?:/|\.|_)|\.test\.ts$")
TEST_MODULE = re.compile(r"^#\[cfg\(test\)\]\n(?:pub\S* )?mod \w+ \{\n.*?^\}", re.M | re.S)
TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|<!--.*?-->"
    r"|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\\n])'|`(?:\\.|[^`\\])*`",
    re.S,
)
"""Pattern for a comment, or for a string that may contain comment marks."""
BLANK = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def lines_of_python(text: str) -> int:
    """Return the number of lines with code in a Python file. Docstrings of attributes are not
    code.
    """
    texts = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        if isinstance(node.value.value, str)
    }
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in BLANK and token.string
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(code - texts)


def lines_of_others(text: str) -> int:
    """Return the number of lines with code in a file of Rust, TypeScript, Svelte or CSS."""
    text = TEST_MODULE.sub("", text)
    is_comment = ("//", "/*", "<!--")
    bare = TOKEN.sub(lambda token: "" if token[0].startswith(is_comment) else token[0], text)
    return sum(bool(line.strip()) for line in bare.splitlines())


def files(revision: str | None) -> Iterator[tuple[str, str]]:
    """Yield name and text of each tracked file, at present or in a revision."""
    command = (
        ["git", "ls-files"]
        if revision is None
        else ["git", "ls-tree", "-r", "--name-only", revision]
    )
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.splitlines():
        if any(re.fullmatch(each, name) for each in PARTS.values()) and not TEST.search(name):
            if revision is None:
                yield name, (ROOT / name).read_text("utf-8")
            else:
                shown = ["git", "show", f"{revision}:{name}"]
                yield (
                    name,
                    subprocess.run(
                        shown, cwd=ROOT, capture_output=True, text=True, check=True
                    ).stdout,
                )


def count(revision: str | None) -> Counter[str]:
    """Return the number of production lines of each part."""
    counts = Counter[str]()
    for name, text in files(revision):
        part = next(part for part, pattern in PARTS.items() if re.fullmatch(pattern, name))
        counts[part] += (lines_of_python if name.endswith(".py") else lines_of_others)(text)
    return counts


def main(arguments: list[str]) -> int:
    """Print the number of lines of each part."""
    now = count(None)
    before = count(arguments[0]) if arguments else None
    for part in (*PARTS, "sum"):
        lines = now[part] if part in PARTS else now.total()
        text = f"{part}: {lines} lines"
        if before is not None:
            old = before[part] if part in PARTS else before.total()
            text += f", {old} before: {100 * (lines / old - 1):+.2f} %"
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
