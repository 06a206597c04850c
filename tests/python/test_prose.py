"""The checker of prose: what it finds, and sentences that must pass."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

CI = Path(__file__).parents[2] / ".ci"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prose", CI / "prose.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


prose = load()
RULES = prose.rules((CI / "prose.toml").read_text("utf-8"))


def found(text: str, rules=RULES) -> list[str]:
    """What is found in a text, without places."""
    faults, _, _ = prose.check("page.md", text, rules)
    return [each.what for each in faults]


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
    ],
)
def test_faults_are_found(text: str, part: str) -> None:
    assert any(part in each for each in found(text)), found(text)


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
        "<!-- table x: a program writes it -->\n\nWho is told.\n\n<!-- end of table -->",
        "| " + "a cell is wide | " * 9,
        "A [link](https://example.org/" + "a" * 90 + ") makes its line wide.",
        "This has as many packets as that.",
        "(what-stands-beside-it)=\n## A heading",
    ],
)
def test_sentences_that_are_right_pass(text: str) -> None:
    assert found(text) == []


def test_a_file_has_few_long_sentences() -> None:
    short, long = "This is a short sentence of the page.", "word " * 26 + "end."
    lines = "\n\n".join([short] * 18 + [long.replace(" word word", "\nword word")] * 2)
    assert found(lines) == []
    assert (
        "3 of 21 sentences" in found(lines + "\n\n" + long.replace(" word word", "\nword word"))[0]
    )


def test_an_exception_has_a_reason_and_there_are_few() -> None:
    text = 'generated = []\n[words]\nx = "told"\n'
    one = '[[except]]\nfile = "page.md"\ntext = "is told"\nreason = "a quotation"\n'
    assert found("He is told of it.", prose.rules(text + one)) == []
    assert found("She was told of it.", prose.rules(text + one)) != []
    with pytest.raises(SystemExit, match="`file`, `text` and `reason`"):
        prose.rules(text + one.replace("reason", "why"))
    with pytest.raises(SystemExit, match="100 exceptions: must be below 100"):
        prose.rules(text + one * 100)


def test_a_fault_has_its_line() -> None:
    (fault,), _, _ = prose.check("page.md", "# A page\n\nGood prose is here.\n\nIt is told.", RULES)
    assert str(fault) == 'page.md:5: "told": write reported, printed or set: It is told.'
