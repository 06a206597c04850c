"""Generate faults of a single line in studies, in rules and in the ledger (claims.toml). The faults
are like those of a tired author.

In Python a fault replaces one expression, found by its syntax tree:

- An integer is replaced by the next or the previous integer, or by its double.
- Any other number is replaced by its double, by its half, or by a number a tenth larger. Numbers in
  texts with a unit are replaced in the same way.
- A comparison operator is replaced by a similar or the opposite operator (`<` by `<=` or `>`).
- `and` is replaced by `or`. A `not` or a minus is removed.
- An arithmetic operator is replaced by its inverse.
- The operands of a difference or a ratio are exchanged, or the first two arguments of a call.
- A function is replaced by another function of `CONTRARY`, such as `min` by `max`.
- A truth value is replaced by its opposite.
- A key is replaced by another key that the file uses in the same role, such as the same argument of
  the same function.
- A name that a file imports, or a constant of the file, is replaced by another name of the same
  kind that is a neighbour in the sorted list.

In ``claims.toml`` a fault changes text. It changes a digit of a paper's value, of a band or of a
bound, or a sign. It replaces a key by another key of the same study, exchanges the values of
`larger` and `smaller`, or removes an element of `at`. The descriptions of checks (what, unit, the
paper's words) stay unchanged.

Docstrings, annotations, decorators, titles, messages and f-strings stay unchanged. A fault is one
changed line, and the file stays syntactically valid.
"""

import ast
import random
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

from places import Module, places_in

CLAIMS = "python/lasthop/studies/claims.toml"
RULES = tuple(f"python/lasthop/studies/{name}.py" for name in ("rules", "ledger", "study"))


@dataclass(frozen=True)
class Fault:
    """A fault: one wrong line of a file.

    Parameters
    ----------
    kind : str
        The kind of the fault: a key of `KINDS`.
    file : str
        Path in the tree.
    line : int
        Number of the line, from 1.
    before, after : str
        The line without and with the fault.
    """

    kind: str
    file: str
    line: int
    before: str
    after: str

    def applied(self, text: str) -> str:
        """Return the text of the file with the fault."""
        lines = text.splitlines(keepends=True)
        at = self.line - 1
        if lines[at].rstrip("\n") != self.before:
            raise ValueError(f"{self.file}:{self.line} is another line by now")
        return "".join([*lines[:at], f"{self.after}\n", *lines[at + 1 :]])

    @property
    def place(self) -> str:
        """Return file and line of the fault as text."""
        return f"{self.file.removeprefix('python/lasthop/')}:{self.line}"


KINDS: Mapping[str, int] = {"measures": 8, "settings": 6, "rules": 5, "claims": 5}
"""Number of faults to draw of each kind. [-]"""


class Queue:
    """Queue of the faults of one kind, in a random order that depends only on the seed. From the
    possible faults of a line, the queue contains only one.

    All lines have the same probability, and all faults of a line have the same probability. Invalid
    faults and faults that change nothing are left out only when they are drawn, since few faults of
    a queue are drawn.
    """

    def __init__(self, faults: Iterable[Fault], makes_sense: Callable[[Fault], bool], seed: str):
        self._makes_sense = makes_sense
        self._draw = random.Random(seed)
        lines: dict[tuple[str, int], list[Fault]] = {}
        for fault in faults:
            lines.setdefault((fault.file, fault.line), []).append(fault)
        self._waiting = list(lines.values())
        self._draw.shuffle(self._waiting)
        self._drawn: list[Fault] = []

    def __iter__(self) -> Iterator[Fault]:
        yield from self._drawn
        while self._waiting:
            some = self._waiting.pop()
            self._draw.shuffle(some)
            fault = next(filter(self._makes_sense, some), None)
            if fault is not None:
                self._drawn.append(fault)
                yield fault


@dataclass(frozen=True)
class Stock:
    """All faults of one kind, and a function that returns whether a fault is valid."""

    faults: Sequence[Fault]
    makes_sense: Callable[[Fault], bool]


def queues(root: Path, seed: str) -> dict[str, Queue]:
    """Return the faults of each kind, in the random order of this seed."""
    return {
        kind: Queue(stock.faults, stock.makes_sense, f"{seed} {kind}")
        for kind, stock in stocks(root).items()
    }


@cache
def stocks(root: Path) -> dict[str, Stock]:
    """Return the faults of a tree by kind. The tree is read once for all seeds."""
    places = places_in(root)
    rules = [Module(root, file) for file in RULES]
    text = (root / CLAIMS).read_text("utf-8")
    tree = tomllib.loads(text)
    modules = {module.file: module for module in [*places.modules.values(), *rules]}

    def differs(fault: Fault) -> bool:
        return _differs(modules[fault.file], fault)

    def reads_otherwise(fault: Fault) -> bool:
        return _reads_otherwise(fault.applied(text), tree)

    code = {
        "measures": places.measures(),
        "settings": places.settings(),
        "rules": [(module, module.code()) for module in rules],
    }
    by_kind = {kind: Stock(_in_python(kind, wanted), differs) for kind, wanted in code.items()}
    return {**by_kind, "claims": Stock(list(in_claims(text)), reads_otherwise)}


# -- Python ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Edit:
    """Replacement of the text between two columns of a line."""

    line: int
    begin: int
    end: int
    text: str


def _in_python(kind: str, wanted: Iterable[tuple[Module, Sequence[ast.AST]]]) -> list[Fault]:
    faults: dict[Fault, None] = {}
    for module, nodes in wanted:
        operators = Operators(module)
        for edit in dict.fromkeys(edit for node in nodes for edit in operators.edits(node)):
            before = module.lines[edit.line - 1]
            after = before[: edit.begin] + edit.text + before[edit.end :]
            fault = Fault(kind, module.file, edit.line, before, after)
            if after != before:
                faults[fault] = None
    return sorted(faults, key=lambda fault_: (fault_.file, fault_.line, fault_.after))


def _differs(module: Module, fault: Fault) -> bool:
    """Return whether the file stays syntactically valid and has another meaning."""
    try:
        tree = ast.parse(fault.applied(module.text))
    except SyntaxError:
        return False
    return ast.dump(tree) != module.dump


COMPARED: Mapping[type[ast.cmpop], Sequence[str]] = {
    ast.Lt: ("<=", ">"),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<"),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
COMPARISON = re.compile(r"is not\b|not in\b|is\b|in\b|[<>=!]=|[<>]")
ARITHMETIC: Mapping[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.Pow: ("**", "*"),
    ast.FloorDiv: ("//", "/"),
}
CONTRARY: Mapping[str, Sequence[str]] = {
    "min": ("max",),
    "max": ("min",),
    "sum": ("max",),
    "any": ("all",),
    "all": ("any",),
    "argmin": ("argmax",),
    "argmax": ("argmin",),
    "mean": ("max", "min"),
    "ptp": ("max",),
    "std": ("ptp",),
    "largest": ("smallest",),
    "smallest": ("largest",),
}
"""Functions that a fault may exchange, if the file uses both."""
SYMMETRIC = {"max", "min", "isinstance", "Quantity", "RuleError", "Judged"}
"""Functions whose first two arguments are not exchanged, because their order has no effect, or
because a type error would reveal the exchange.
"""
WITH_UNIT = re.compile(r'"(\d+\.?\d*)( ?[A-Za-z]+)"')
KEY = re.compile(r"[a-z][a-z0-9_]*")
MAPPED = ("key", "", 0)
"""Role of strings that are keys of mappings. A fault replaces them only by similar keys, because
other keys are refused immediately.
"""


class Operators:
    """Generator of the possible faults of one Python file."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.roles: dict[object, list[str]] = {}
        for node in module.code():
            for child, role in _strings(node):
                self.roles.setdefault(role, []).append(str(child.value))
        every = [part for node in module.code() for part in walked(node)]
        self.taken = [
            part
            for part in every
            if isinstance(part, ast.Attribute)
            and isinstance(part.value, ast.Name)
            and part.value.id in module.modules
        ]
        self.called = {id(part.func) for part in every if isinstance(part, ast.Call)}

    def edits(self, node: ast.AST) -> Iterator[Edit]:
        """Yield the possible faults in a part of the file."""
        for child in walked(node):
            yield from self._of(child)
        for string, role in _strings(node):
            yield from self._key(string, role)

    def _of(self, node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.Constant(value=bool()):
                yield from self._instead(node, str(not node.value))
            case ast.Constant(value=int() | float() as value):
                for other in numbers(value, self._text(node)):
                    yield from self._instead(node, other)
            case ast.Constant(value=str()):
                if literal := WITH_UNIT.fullmatch(self._text(node)):
                    yield from self._instead(node, f'"{2 * float(literal[1]):g}{literal[2]}"')
            case ast.Compare():
                sides = [node.left, *node.comparators]
                for sign, left, right in zip(node.ops, sides, sides[1:], strict=False):
                    for other in COMPARED[type(sign)]:
                        yield from self._between(left, right, COMPARISON, other)
            case ast.BinOp() if type(node.op) in ARITHMETIC:
                mine, other = ARITHMETIC[type(node.op)]
                alone = re.compile(rf"(?<!\*){re.escape(mine)}(?!\*)")
                yield from self._between(node.left, node.right, alone, other)
                if isinstance(node.op, ast.Sub | ast.Div):
                    yield from self._swapped(node.left, node.right)
            case ast.BoolOp():
                mine, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                for left, right in zip(node.values, node.values[1:], strict=False):
                    yield from self._between(left, right, re.compile(rf"\b{mine}\b"), other)
            case ast.UnaryOp(op=ast.Not() | ast.USub()):
                yield from self._instead(node, self._text(node.operand))
            case ast.Call():
                yield from self._call(node)
            case ast.Attribute(value=ast.Name(id=alias)) if alias in self.module.modules:
                for other in nearest(self._attributes(node), node.attr):
                    yield from self._instead(node, f"{alias}.{other}")
            case ast.Name(ctx=ast.Load()) if node.id in self.module.constants:
                for other in nearest(self._constants(node.id), node.id):
                    yield from self._instead(node, other)

    def _call(self, node: ast.Call) -> Iterator[Edit]:
        function = node.func
        name = getattr(function, "attr", getattr(function, "id", ""))
        for other in CONTRARY.get(name, ()):
            if isinstance(function, ast.Attribute):
                yield from self._instead(function, f"{self._text(function.value)}.{other}")
            elif name not in ("largest", "smallest") or other in self.module.text:
                yield from self._instead(function, other)
        if name == "mean_of" and len(node.args) == 1:
            yield from self._instead(node, f"({self._text(node.args[0])})[0]")
        if name == "abs" and len(node.args) == 1:
            yield from self._instead(node, f"({self._text(node.args[0])})")
        if len(node.args) > 1 and name not in SYMMETRIC and _alike(*node.args[:2]):
            yield from self._swapped(*node.args[:2])

    def _key(self, node: ast.Constant, role: object) -> Iterator[Edit]:
        key = str(node.value)
        others = self.roles[role]
        if role == MAPPED:
            others = [name for name in others if SequenceMatcher(None, name, key).ratio() > 0.6]
        for other in nearest(others, key):
            yield from self._instead(node, f'"{other}"')

    def _attributes(self, like: ast.Attribute) -> list[str]:
        """Return the names that can replace `like`: attributes of the same module that the file
        uses in the same way. The ways are a call, a constant, and any other attribute.
        """
        return [
            attribute.attr
            for attribute in self.taken
            if ast.dump(attribute.value) == ast.dump(like.value)
            and attribute.attr.isupper() == like.attr.isupper()
            and (id(attribute) in self.called) == (id(like) in self.called)
        ]

    def _constants(self, like: str) -> list[str]:
        """Return constants of the file with a value of the same type."""
        known = self.module.constants
        return [name for name, value in known.items() if type(value) is type(known[like])]

    # positions

    def _text(self, node: ast.AST) -> str:
        span = self._span(node)
        return "" if span is None else self.module.lines[span[0] - 1][span[1] : span[2]]

    def _span(self, node: ast.AST) -> tuple[int, int, int] | None:
        """Return line, first column and last column of a node within one line."""
        line, end = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        if line is None or line != end:
            return None
        columns = (node.col_offset, node.end_col_offset)  # type: ignore[attr-defined]
        text = self.module.lines[line - 1].encode()
        begin, stop = (len(text[:column].decode()) for column in columns)
        return line, begin, stop

    def _instead(self, node: ast.AST, text: str) -> Iterator[Edit]:
        span = self._span(node)
        if span is not None and text:
            yield Edit(*span, text)

    def _swapped(self, left: ast.AST, right: ast.AST) -> Iterator[Edit]:
        first, second = self._span(left), self._span(right)
        if first is None or second is None or first[0] != second[0]:
            return
        line = self.module.lines[first[0] - 1]
        middle = line[first[2] : second[1]]
        if middle.count("(") == middle.count(")"):
            yield Edit(first[0], first[1], second[2], self._text(right) + middle + self._text(left))

    def _between(
        self, left: ast.AST, right: ast.AST, sign: re.Pattern[str], text: str
    ) -> Iterator[Edit]:
        """Yield the edit that replaces the operator between `left` and `right` by `text`. `sign`
        finds the operator. Yield nothing if `right` begins in another line than `left` ends.
        """
        line, begin = left.end_lineno, left.end_col_offset  # type: ignore[attr-defined]
        if line != right.lineno:  # type: ignore[attr-defined]
            return
        raw = self.module.lines[line - 1].encode()
        first = len(raw[:begin].decode())
        middle = raw[begin : right.col_offset].decode()  # type: ignore[attr-defined]
        if match := sign.search(middle):
            yield Edit(line, first + match.start(), first + match.end(), text)


def walked(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes below it except docstrings, annotations, decorators and
    f-strings.
    """
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            text = isinstance(child, ast.JoinedStr) or (
                isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            )
            if isinstance(child, ast.AST) and not text and not _is_message(child):
                yield from walked(child)


def _is_message(node: ast.AST) -> bool:
    """Return whether a node raises an exception. Its message is not checked exactly by any test."""
    return isinstance(node, ast.Raise)


def _strings(node: ast.AST) -> Iterator[tuple[ast.Constant, object]]:
    """Yield the string keys below a node, each with its role (such as argument or subscript)."""
    for parent in walked(node):
        match parent:
            case ast.Call(func=function, args=args):
                name = getattr(function, "attr", getattr(function, "id", ""))
                pairs = [(child, ("argument", name, at)) for at, child in enumerate(args)]
            case ast.Subscript(slice=key):
                pairs = [(key, ("subscript", "", 0))]
            case ast.Dict(keys=keys, values=values):
                pairs = [(child, MAPPED) for child in keys if child is not None]
                pairs += [(child, ("value", "", 0)) for child in values]
            case ast.Compare(left=left, comparators=others):
                pairs = [(child, ("compared", "", 0)) for child in (left, *others)]
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                pairs = [(child, ("part", "", 0)) for child in parts]
            case _:
                continue
        for child, role in pairs:
            if isinstance(child, ast.Constant) and _is_key(child.value):
                yield child, role


def _is_key(value: object) -> bool:
    return isinstance(value, str) and KEY.fullmatch(value) is not None


def _alike(left: ast.AST, right: ast.AST) -> bool:
    """Return whether two arguments may be confused with each other."""
    return type(left) is type(right) and not isinstance(left, ast.Starred | ast.Constant)


def numbers(value: float, text: str) -> list[str]:
    """Return wrong numbers with which a fault replaces a number."""
    if isinstance(value, int) and re.fullmatch(r"\d+", text):
        return [str(value + 1), *([str(value - 1)] if value else []), *_doubled(value)]
    if match := re.fullmatch(r"(.*e-?)(\d+)", text):
        return [f"{match[1]}{int(match[2]) + 3}", f"{match[1]}{int(match[2]) - 1}"]
    return [
        repr(float(f"{number:.12g}")) for number in (2.0 * value, 1.1 * value, 0.5 * value)
    ] or ["1.0"]


def _doubled(value: int) -> list[str]:
    return [str(2 * value)] if value > 9 else []


def nearest(names: Sequence[str], name: str) -> list[str]:
    """Return the neighbours of a name in a list: the names before and after it."""
    others = list(dict.fromkeys(names))
    if name not in others:
        return []
    at = others.index(name)
    return [others[k] for k in {at - 1, at + 1} if 0 <= k < len(others)]


# -- the ledger --------------------------------------------------------------------------------

DESCRIBED = re.compile(r'\b(what|unit|words|where|softer|reading) = "(\\.|[^"\\])*"')
DIGITS = re.compile(r"(?<![\w.{])\d[\d.]*(?:e-?\d+)?(?![\w.}])")
VALUE = re.compile(r"\b[a-z][a-z0-9_]*\.[a-z{][a-z0-9_{}]*")
AT = re.compile(r"at = \[([^\]]*)\]")
PAIR = re.compile(r'(larger = )("[^"]*")(.*smaller = )("[^"]*")')


def in_claims(text: str) -> Iterator[Fault]:
    """Yield every possible fault of the ledger."""
    every = list(dict.fromkeys(VALUE.findall("\n".join(map(_judging, text.splitlines())))))
    in_rules = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("["):
            in_rules = line == "[rules]"
        changes = _slips(line, line.partition("#")[0]) if in_rules else _in_check(line, every)
        for after in dict.fromkeys(changes):
            if after != line:
                yield Fault("claims", CLAIMS, number, line, after)


def _reads_otherwise(text: str, tree: Mapping[str, object]) -> bool:
    try:
        return tomllib.loads(text) != tree
    except tomllib.TOMLDecodeError:
        return False


def _judging(line: str) -> str:
    """Return a line of a check in claims.toml, with blanks in place of its descriptions. Return an
    empty text for a line that belongs to no check.
    """
    if not re.match(r"\s*(check = \[)?\s*\{ ", line) and " = " not in line:
        return ""
    if re.match(r"(text|figure|id) = |#|\s*#", line):
        return ""
    return DESCRIBED.sub(lambda match: " " * len(match[0]), line)


def _in_check(line: str, every: Sequence[str]) -> Iterator[str]:
    seen = _judging(line)
    if not re.search(r"\b(kind|holds|value|larger|smaller|paper|range|at) = ", seen):
        return
    yield from _slips(line, AT.sub(lambda match: " " * len(match[0]), seen))
    for match in re.finditer(r" [<>] ", seen):
        other = " > " if match[0] == " < " else " < "
        yield line[: match.start()] + other + line[match.end() :]
    for match in VALUE.finditer(seen):
        study = match[0].partition(".")[0]
        alike = [name for name in every if name.partition(".")[0] == study]
        alike = [name for name in alike if name.count("{}") == match[0].count("{}")]
        for key in nearest(alike, match[0]):
            yield line[: match.start()] + key + line[match.end() :]
    if PAIR.search(line):
        yield PAIR.sub(r"\1\4\3\2", line)
    if at := AT.search(seen):
        places = at[1].split(", ")
        for rest in (places[1:], places[:-1]):
            if rest:
                yield line[: at.start(1)] + ", ".join(rest) + line[at.end(1) :]
    if ", about = true" in seen:
        yield line.replace(", about = true", "")
    elif 'kind = "number"' in seen:
        yield line.replace('kind = "number"', 'kind = "number", about = true')
    if ', judge = "model"' in seen:
        yield line.replace(', judge = "model"', "")


def _slips(line: str, seen: str) -> Iterator[str]:
    """Yield the line with one wrong digit, or with the two values of a pair exchanged."""
    for match in DIGITS.finditer(seen):
        for place in (match.start(), _last_digit(match)):
            digit = (int(line[place]) + 1) % 10
            yield f"{line[:place]}{digit}{line[place + 1 :]}"
    if pair := re.search(r"(paper|range) = \[([^\],]*), ([^\],]*)", seen):
        yield f"{line[: pair.start(2)]}{pair[3]}, {pair[2]}{line[pair.end(3) :]}"


def _last_digit(match: re.Match[str]) -> int:
    mantissa = match[0].partition("e")[0].rstrip(".")
    return match.start() + len(mantissa) - 1
