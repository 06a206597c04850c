"""Count subscripts with a constant string, and calls of `get` with a constant string, in
python/lasthop.
"""

import ast
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1] / "python" / "lasthop"


def string_keys(tree: ast.Module) -> tuple[int, int]:
    """Return the number of subscripts and the number of calls of `get` whose key is a constant
    string.
    """
    nodes = list(ast.walk(tree))
    subscripts = sum(isinstance(n, ast.Subscript) and is_text(n.slice) for n in nodes)
    calls = sum(
        isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr == "get"
        and bool(n.args)
        and is_text(n.args[0])
        for n in nodes
    )
    return subscripts, calls


def is_text(node: ast.AST) -> bool:
    """Return whether an expression is a constant string."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def main() -> None:
    """Print both numbers for each folder, in descending order, and the totals."""
    by_room: Counter[str] = Counter()
    total = [0, 0]
    for path in sorted(ROOT.rglob("*.py")):
        keys = string_keys(ast.parse(path.read_text("utf-8")))
        room = (
            path.relative_to(ROOT).as_posix()
            if "-v" in sys.argv
            else path.relative_to(ROOT).parts[0]
        )
        by_room[room] += sum(keys)
        total = [a + b for a, b in zip(total, keys, strict=True)]
    for room, count in by_room.most_common(40):
        print(f"{count:5} {room}")
    print(f"{total[0]} subscripts and {total[1]} calls of get")


if __name__ == "__main__":
    main()
