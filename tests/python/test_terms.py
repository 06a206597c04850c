"""Terms and their definitions: glossary, assumptions, claims, quantities and keys."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import lasthop as lasthop_package
from lasthop.answers.quantities import registry
from lasthop.display.columns import COLUMNS, OF_SHARES, TITLES
from lasthop.display.compared import SHOWN as COMPARED
from lasthop.display.delays import OF_DATAGRAMS, OF_REPORTS, OF_TRANSFERS, WAITS
from lasthop.enforce.gateway import live as gateway
from lasthop.enforce.queue import live as queue
from lasthop.errors import UserError
from lasthop.explanation.terms import KINDS, PAPERS, entries, find, glossary
from lasthop.models.assumptions import BY_MODEL
from lasthop.studies.ledger import load
from lasthop.tuning.shown import SHOWN as TUNED

from .conftest import Lasthop


@pytest.mark.parametrize(
    ("asked", "entries"),
    [
        ("Jain", [("term", "Jain's index"), ("quantity", "jain")]),
        ("txop", [("term", "TXOP")]),
        ("TXOPs", [("term", "TXOP")]),
        ("latencies", [("term", "latency")]),
        ("round-trip time", [("term", "RTT"), ("quantity", "rtt_s")]),
        ("Air_Time", [("term", "air time"), ("quantity", "airtime_fraction")]),
        ("n-ack", [("term", "h-ACK, n-ACK")]),
        ("a1", [("assumption", "hotspot a1"), ("assumption", "edca a1")]),
        ("edca.a2", [("assumption", "edca a2")]),
        ("ACSMA-4", [("claim", "acsma-4")]),
        ("one_way_delay_p99_s", [("quantity", "one_way_delay_p99_s")]),
        ("flows.goodput_bps", [("quantity", "goodput_bps")]),
        ("cell.ap_queue", [("key", "cell.ap_queue")]),
        ("long path", [("cause", "long path")]),
        ("ap_queue", [("key", "cell.ap_queue")]),
        ("station.phone.power_save", [("key", "station.NAME.power_save")]),
    ],
)
def test_a_name_finds_its_entries(asked: str, entries: list[tuple[str, str]]) -> None:
    assert [(entry.kind, entry.name) for entry in find(asked)] == entries


def test_every_term_quantity_assumption_and_claim_is_found_by_its_name() -> None:
    named = {kind: [e for e in entries() if e.kind == kind] for kind in KINDS}
    assert len(named["term"]) == len(glossary())
    assert {entry.name for entry in named["quantity"]} == set(registry())
    assert len(named["assumption"]) == sum(map(len, BY_MODEL.values()))
    assert {entry.name for entry in named["claim"]} == {claim.id for claim in load().claims}
    assert all(entry in find(entry.name) for entry in entries() if entry.name != "NAME")


def test_different_terms_have_different_names() -> None:
    owner: dict[str, str] = {}
    for entry in entries():
        for name in (entry.name, *entry.aliases) if entry.kind == "term" else ():
            assert owner.setdefault(name.casefold(), entry.name) == entry.name


def test_a_source_has_the_title_of_its_paper() -> None:
    assert set(PAPERS.values()) <= set(load().subjects)
    [entry] = find("hotspot a1")
    title = load().subjects["hotspot"]
    assert entry.source == f'"{title}", table 1 and section 3'


def literal_headings() -> Iterator[str]:
    """Yield the column headings that modules of the program contain as lists of texts.

    These are the first argument of `print_table`, and lists that are assigned to a variable such as
    `heads`. Texts with values, such as the name of a swept key, are left out.
    """
    for path in sorted(Path(lasthop_package.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "print_table":
                source: ast.expr | None = node.args[0]
            elif isinstance(node, ast.Assign | ast.AugAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = {ast.unparse(target) for target in targets}
                source = node.value if names & {"heads", "headers", "HEADS", "CHANGES"} else None
            else:
                continue
            if isinstance(source, ast.List | ast.Tuple):
                yield from (
                    each.value
                    for each in source.elts
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                )


def headings() -> set[str]:
    """Return all column headings of the program, on one line and with their units."""
    status = (*gateway.APS, *gateway.WEIGHED, *gateway.GROUPS, *gateway.FILTERS)
    status += (*queue.QUEUE, *queue.CLASSES)
    columns = [column.header for own in COLUMNS.values() for column in own]
    columns += [column.header for column in (*OF_DATAGRAMS, *OF_REPORTS, *OF_TRANSFERS)]
    texts = [*columns, WAITS.partition("\n")[0], *TITLES.values(), *OF_SHARES.values()]
    texts += [text for text, _ in COMPARED.values()]
    texts += [shown.head for shown in TUNED.values()]
    texts += [column.title for column in status]
    return {text.replace("\n", " ") for text in (*texts, *literal_headings())}


def test_every_column_heading_is_found() -> None:
    """A newcomer asks for the words above the columns, such as `busy [%]`. Each is found as a
    quantity, a heading, a term or a key, with and without its unit.
    """
    missing = []
    for heading in sorted(headings()):
        for asked in (heading, heading.partition(" [")[0]):
            try:
                assert find(asked)
            except UserError:
                missing.append(asked)
    assert not missing


@pytest.mark.parametrize(
    ("asked", "name", "heading"),
    [
        ("busy", "busy_fraction", '"busy [%]" in the table of cells'),
        ("mean delay [ms]", "one_way_delay_s", '"mean delay [ms]" in the table'),
        ("lost", "loss_probability", '"lost [%]" in the table of calls and datagrams'),
        ("up/down ratio", "updown_ratio", '"up/down ratio [-]" in the table of `lasthop compare`'),
    ],
)
def test_a_column_heading_finds_its_quantity(asked: str, name: str, heading: str) -> None:
    [entry] = [entry for entry in find(asked) if entry.name == name]
    assert entry.kind == "quantity"
    assert heading in "; ".join(entry.headings)


def test_a_heading_names_its_tables_and_its_unit() -> None:
    [entry] = find("base RTT [ms]")
    assert entry.kind == "heading"
    assert entry.title == "heading in the tables of `lasthop gateway status`, unit ms"
    assert entry.means.startswith("The round-trip time between the gateway and the stations")


def test_an_unknown_name_is_refused_with_similar_names(lasthop: Lasthop) -> None:
    done = lasthop("explain", "bufferblot")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        'error: "bufferblot": no such name: expected a term, a quantity, a column heading, a '
        "key, an assumption, a claim or a cause\n"
        "hint: did you mean bufferbloat or buffer_s? `lasthop explain --terms` lists all names\n"
    )
    assert "hint: `lasthop explain --terms`" in lasthop("explain", "xyzzy").stderr


def test_explain_prints_meaning_source_and_keys(lasthop: Lasthop) -> None:
    done = lasthop("explain", "air", "time")
    assert (done.returncode, done.stderr) == (0, "")
    term, quantity = done.stdout.split("\n\n")
    assert term == (
        "air time (term of the glossary)\n"
        "  The time for which the channel carries a station's frames and their acknowledgements.\n"
        "  in lasthop: `airtime_fraction`\n"
        "  also called: airtime"
    )
    assert quantity.startswith("airtime_fraction (quantity of results, unit -)\n")
    assert quantity.endswith(
        '  heading: "air time [%]" in the tables of stations, links and `lasthop compare`\n'
    )
    many = lasthop("explain", "cwmin").stdout.splitlines()
    assert "6 keys of scenario files" in many
    assert max(map(len, many)) <= 100


def test_json_has_all_entries_and_the_list_of_names(lasthop: Lasthop) -> None:
    term, quantity = json.loads(lasthop("explain", "jain", "--json").stdout)
    assert (term["kind"], term["carried_by"]) == ("term", ["jain"])
    assert (quantity["name"], quantity["carried_by"]) == ("jain", ["cells.jain", "classes.jain"])
    names = json.loads(lasthop("explain", "--terms", "--json").stdout)
    assert set(names) == {"term", "quantity", "heading", "assumption", "claim", "cause"}
    assert "acsma-4" in names["claim"]
