"""The checker of prose: texts with faults, and texts without a fault."""

import importlib
import importlib.util
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import lasthop as lh

ROOT = Path(__file__).parents[2]
CI = ROOT / ".ci"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prose", CI / "prose.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


prose = load()
RULES = prose.rules((CI / "prose.toml").read_text("utf-8"))


def faults(text: str, rules=RULES, file: str = "page.md") -> list[str]:
    """Return the faults of a text, without their positions."""
    return [each.what for each in prose.check(file, text, rules).faults]


PYTHON = "python/lasthop/page.py"
RUST = "crates/engine/src/page.rs"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Who is late by itself does not count here.", "who"),
        ("The gateway drops packets, and who sends them waits.", "who"),
        ("What takes so long as was said is repeated.", 'begins with "What"'),
        ("Of these cells the models predict the goodput.", 'begins with "Of"'),
        ("Likewise the queue of a station is short.", 'begins with "Likewise"'),
        ("The program was told of the address.", "told"),
        ("The access point stands in the kitchen there.", "stands"),
        ("A call beside a download stutters.", "with, in addition to"),
        ("A queue behind the access point fills.", "downstream"),
        ("The queue swings with few flows.", "oscillate"),
        ("All stations send at once in this cell.", "immediately"),
        ("one two three " * 12, "36 words"),
        ("word " * 21 + "words of this line exceed the width.", "columns"),
        ("| a cell whose text | stands in a table |", "stands"),
        ("- An item that is told of it all.", "told"),
        ("- An item.\n\n    - An item in it is told of it.", "told"),
        ("1. An item.\n\n    Its second part is told of it.", "told"),
        ("A line of a paragraph\n    is told of it.", "told"),
        ("```{note}\nThe reader is told of it.\n```", "told"),
        ("A page of it.\n\n```text\nThe reader is told of it.", "never closed"),
        ("The packets are sent  at  once.", "immediately"),
        ("The packets are sent at\u00a0once.", "immediately"),
        ('<img src="x.png" alt="Two queues beside a wire">', "with, in addition to"),
    ],
)
def test_faults_are_found(text: str, part: str) -> None:
    assert any(part in each for each in faults(text)), faults(text)


@pytest.mark.parametrize(
    "text",
    [
        "A station that replies late is ignored while such stations are a minority.",
        "Who gets the air?",
        "What if every station had a single connection?",
        "The rate at which the queue drains, and the station whose packets wait.",
        "Clients behind a NAT share one address.",
        "`at once` is a word of code, and so is `beside`.",
        "EDCA stands for enhanced distributed channel access.",
        "```text\nWho is told of it stands beside it at once.\n```",
        "    code that is told of it\n",
        "A page.\n\n    code that is told of it\n\n    - and told of it",
        "- An item.\n\nA paragraph.\n\n    code that is told of it",
        "````{note}\nA note.\n\n```text\nThe reader is told of it.\n```\n````",
        "As many packets arrive as were sent.",
        "As of today this is the only queue.",
        "<!-- table x: a program writes it -->\n\nWho is told.\n\n<!-- end of table -->",
        "| " + "a cell is wide | " * 9,
        "A [link](https://example.org/" + "a" * 90 + ") makes its line wide.",
        "This has as many packets as that.",
        "(what-stands-beside-it)=\n## A heading",
    ],
)
def test_correct_sentences_have_no_fault(text: str) -> None:
    assert faults(text) == []


def test_a_file_has_few_long_sentences() -> None:
    short, long = "This is a short sentence of the page.", "word " * 26 + "end."
    lines = "\n\n".join([short] * 18 + [long.replace(" word word", "\nword word")] * 2)
    assert faults(lines) == []
    assert (
        "3 of 21 sentences" in faults(lines + "\n\n" + long.replace(" word word", "\nword word"))[0]
    )


def test_exceptions_have_a_reason_and_a_limit() -> None:
    text = 'generated = []\n[words]\nx = "told"\n'
    exception = '[[except]]\nfile = "page.md"\ntext = "is told"\nreason = "a quotation"\n'
    assert faults("He is told of it.", prose.rules(text + exception)) == []
    assert faults("She was told of it.", prose.rules(text + exception)) != []
    with pytest.raises(SystemExit, match="`file`, `text` and `reason`"):
        prose.rules(text + exception.replace("reason", "why"))
    with pytest.raises(SystemExit, match="100 exceptions: must be below 100"):
        prose.rules(text + exception * 100)


def test_an_exception_that_excuses_nothing_is_a_fault() -> None:
    exception = {"file": "page.md", "text": "is told", "reason": "a quotation"}
    rules = RULES._replace(exceptions=[exception])
    used = prose.check("page.md", "He is told of it.", rules).used
    assert list(prose.unused([exception], {"page.md": used})) == []
    used = prose.check("page.md", "He is here now.", rules).used
    (fault,) = prose.unused([exception], {"page.md": used})
    assert str(fault) == "page.md:1: unused exception: is told"
    assert len(list(prose.unused([exception], {}))) == 1


def test_a_fault_has_its_line() -> None:
    text = "# A page\n\nGood prose is here.\n\nIt is told."
    (fault,) = prose.check("page.md", text, RULES).faults
    assert str(fault) == 'page.md:5: "told": write reported, printed or set: It is told.'


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('"""What a queue does."""', 'begins with "What"'),
        ('x = 1\n"""A queue beside another."""', "with, in addition to"),
        ('class X:\n    """Those of a cell."""', 'begins with "Those"'),
        ('class X:\n    y: int\n    """Of a queue, the length."""', 'begins with "Of"'),
        ('class X:\n    def y(self):\n        """Return what is told."""', "told"),
        ('class X:\n    @property\n    def y(self):\n        """As was told."""', "told"),
        ('def x():\n    """The queue of it."""', 'begins with "The": write a verb'),
        ('def x():\n    """Returns the queue."""', 'begins with "Returns": write a verb'),
        (
            'def x():\n    """Do it.\n\n    Parameters\n    ----------\n    y : int\n'
            '        A queue behind it.\n    """',
            "downstream",
        ),
        ('def x():\n    """Do it.\n\n    It is ' + "so " * 40 + 'long.\n    """', "words"),
        ('raise UserError(f"{x}: it stands there", "a hint")', "stands"),
        ('raise UserError("x: y", "look beside " f"it {x}")', "with, in addition to"),
        ('typer.Option(help="Write what was told.")', "told"),
        ('typer.Option(help=f"Allowed is {x} of them.")', "expected, or must be"),
        ('warn(f"{x} is needed: needed is {y} of it")', "expected, or must be"),
        ('def _x():\n    warn("packets are sent at once")', "immediately"),
    ],
)
def test_faults_of_python_are_found(text: str, part: str) -> None:
    rules = RULES._replace(documented=frozenset(["python/lasthop"]))
    assert any(part in each for each in faults(text, rules, PYTHON)), faults(text, rules, PYTHON)


@pytest.mark.parametrize(
    "text",
    [
        '"""Queues, and how long they are."""',
        'def x():\n    """Return the queue."""',
        'class X:\n    @property\n    def y(self):\n        """The queue of it."""',
        'class X:\n    @functools.cached_property\n    def y(self):\n        """The queue."""',
        'def _x():\n    """What a private function does is told."""',
        'class X:\n    def _y(self):\n        """What stands beside it."""',
        'def x():\n    def y():\n        """What an inner function does is told."""',
        "# What a comment tells stands beside it.",
        'def x():\n    """Do it:\n\n        code is told of it\n\n    And.\n    """',
        'def x():\n    """Do it.\n\n    >>> told(x, beside)\n    what is told of it\n    """',
        'def x():\n    r"""Do it.\n\n    .. math:: told beside it\n\n       is told of it\n    """',
        'def x():\n    """Do it, as follows::\n\n        it is told of it\n\n    And.\n    """',
        'def x():\n    """Do it.\n\n    Returns\n    -------\n    told : x\n        A.\n    """',
        'def x():\n    """Return :func:`told beside it`, and ``what stands there``."""',
        'raise UserError(f"{x}: is no number", "expected a number from 1")',
        'x = {"told": "beside", "stands at": 1}',
        '"""A model, whose optimum differs, and a station that sleeps."""',
    ],
)
def test_correct_python_has_no_fault(text: str) -> None:
    rules = RULES._replace(documented=frozenset(["python/lasthop"]))
    assert faults(text, rules, PYTHON) == []


def test_docstrings_of_other_folders_are_not_read_yet_but_their_messages_are() -> None:
    text = '"""What is told."""\n\nwarn("it stands beside it")'
    rules = RULES._replace(documented=frozenset(["python/lasthop/cli"]))
    assert [each[:8] for each in faults(text, rules, PYTHON)] == ['"stands"', '"beside"']


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('fn x() {\n    problems.add(y, "it stands there".to_owned());\n}', "stands"),
        ('let x = format!("{y} is told \\\n             of it");', "told"),
        ('refuse("a queue beside {x:?} of it", problems);', "with, in addition to"),
        ('let x = "allowed is a number";', "expected, or must be"),
        ('table! {\n    /// What the queue does.\n    pub struct X in "x" {\n    }\n}', "What"),
        ("words! {\n    pub enum X {\n        /// Of two, the first.\n    }\n}", "Of"),
    ],
)
def test_faults_of_rust_are_found(text: str, part: str) -> None:
    assert any(part in each for each in faults(text, file=RUST)), faults(text, file=RUST)


@pytest.mark.parametrize(
    "text",
    [
        '// a comment that is "told of it"',
        "/// What the documentation of a function tells.\nfn x() {}",
        '#[cfg(test)]\nmod tests {\n    const X: &str = "it is told of it";\n}\n',
        "let (x, y) = ('\"', '\"'); // What is told",
        'let x = "{told beside it} is the queue";',
        'table! {\n    /// Length of the queue.\n    pub struct X in "x" {\n    }\n}',
    ],
)
def test_correct_rust_has_no_fault(text: str) -> None:
    assert faults(text, file=RUST) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\n# A call with a download\n# is told of it.\n", 2),
        ("x = 1\ny = 2    # what is told of it", 2),
        ('means = "A queue that is told of it."', 1),
        ('text = """\nA page.\n\nIt is told of it.\n"""\n', 4),
        ("example = '''\nx = 1    # is told of it\n'''", 2),
    ],
)
def test_faults_of_toml_are_found(text: str, line: int) -> None:
    (fault,) = prose.check("examples/page.toml", text, RULES).faults
    assert (fault.line, fault.what[:6]) == (line, '"told"')


def test_correct_toml_has_no_fault() -> None:
    text = (
        '# A cell.\n#\n#   lasthop told beside it\nx = "#1 of it"\ny = { told = 1 }    # a number\n'
    )
    assert faults(text, file="examples/page.toml") == []


def test_a_fault_of_code_has_its_line() -> None:
    text = 'def x():\n    """Do it.\n\n    It does\n    something.\n\n    It is told.\n    """\n'
    rules = RULES._replace(documented=frozenset([PYTHON]))
    assert [each.line for each in prose.check(PYTHON, text, rules)[0]] == [7]
    text = 'fn x() {\n    y();\n    z("it is told of it");\n}'
    assert [each.line for each in prose.check(RUST, text, rules)[0]] == [3]


def test_documentation_of_code_has_few_long_sentences() -> None:
    rules = RULES._replace(documented=frozenset([PYTHON]))
    short, long = "    It is a short sentence.", "    It is " + "word " * 25 + "too."
    lines = [short] * 17 + [long] * 2
    assert (
        faults('def x():\n    """Do it.\n\n' + "\n\n".join(lines) + '\n    """', rules, PYTHON)
        == []
    )
    lines.append(long)
    text = 'def x():\n    """Do it for it.\n\n' + "\n\n".join(lines) + '\n    """'
    assert "3 of 21 sentences" in faults(text, rules, PYTHON)[0]


def names_of_reference(page: str) -> Iterator[tuple[str, str]]:
    """Yield the modules and names that a reference page documents."""
    module = ""
    for what, name in re.findall(r"\.\. (currentmodule|auto\w+):: (\S+)", page):
        if what == "currentmodule":
            module = name
        elif what != "automodule":
            yield module, name


def test_code_that_is_documented_for_users_is_read() -> None:
    pages = (ROOT / "docs" / "reference" / each for each in ("python.rst", "stability.rst"))
    names = {each for page in pages for each in names_of_reference(page.read_text("utf-8"))}
    assert set(lh.__all__) - {"__version__", "relay"} <= {name for _, name in names}
    package = Path(lh.__file__).parents[1]
    for module, name in names:
        thing = getattr(importlib.import_module(module), name)
        for each in thing.__mro__ if inspect.isclass(thing) else [thing]:
            if each.__module__.startswith("lasthop."):
                file = "python" / Path(inspect.getfile(each)).relative_to(package)
                assert not RULES.documented.isdisjoint({str(file), str(file.parent)}), name
