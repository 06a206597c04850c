"""Terms and their definitions: glossary, assumptions, claims, quantities and keys."""

import json

import pytest

from lasthop.answers.quantities import registry
from lasthop.explanation.terms import KINDS, PAPERS, entries, find, glossary
from lasthop.models.assumptions import BY_MODEL
from lasthop.studies.ledger import load

from .conftest import Lasthop


@pytest.mark.parametrize(
    ("asked", "entries"),
    [
        ("Jain", [("term", "Jain's index"), ("quantity", "jain")]),
        ("txop", [("term", "TXOP")]),
        ("TXOPs", [("term", "TXOP")]),
        ("latencies", [("term", "latency")]),
        ("round-trip time", [("term", "RTT")]),
        ("Air_Time", [("term", "air time")]),
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


def test_an_unknown_name_is_refused_with_similar_names(lasthop: Lasthop) -> None:
    done = lasthop("explain", "bufferblot")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        'error: "bufferblot": no such name: expected a term, a quantity, a key, an assumption, a '
        "claim or a cause\n"
        "hint: did you mean bufferbloat? `lasthop explain --terms` lists all names\n"
    )
    assert "hint: `lasthop explain --terms`" in lasthop("explain", "xyzzy").stderr


def test_explain_prints_meaning_source_and_keys(lasthop: Lasthop) -> None:
    done = lasthop("explain", "air", "time")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "air time (term of the glossary)\n"
        "  The time for which the channel carries a station's frames and their acknowledgements.\n"
        "  in lasthop: `airtime_fraction`\n"
        "  also called: airtime\n"
    )
    many = lasthop("explain", "cwmin").stdout.splitlines()
    assert "6 keys of scenario files" in many
    assert max(map(len, many)) <= 100


def test_json_has_all_entries_and_the_list_of_names(lasthop: Lasthop) -> None:
    term, quantity = json.loads(lasthop("explain", "jain", "--json").stdout)
    assert (term["kind"], term["carried_by"]) == ("term", ["jain"])
    assert (quantity["name"], quantity["carried_by"]) == ("jain", ["cells.jain", "classes.jain"])
    names = json.loads(lasthop("explain", "--terms", "--json").stdout)
    assert set(names) == {"term", "quantity", "assumption", "claim", "cause"}
    assert "acsma-4" in names["claim"]
