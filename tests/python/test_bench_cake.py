"""The comparison of the engine's CAKE with the kernel's `sch_cake`: its plan, and the results that
are computed from packets.
"""

import struct
from pathlib import Path

import pytest
from cake_compared import JAIN, Quantity, count, of_flows
from cake_compared import goodput as goodput_of
from cake_engine import scenario, tcp_scenario
from cake_page import PAGE, Results, answer, counted, not_equal, values_of
from cake_points import (
    CASES,
    LENGTH_S,
    NS_PER_S,
    SPREAD,
    TINS,
    Case,
    Datagrams,
    flows,
    packets,
    path_delay_ms,
)
from cake_results import of_datagrams, of_tcp
from cake_ring import Seen
from equivalence import Agreement

import lasthop as lh

MS = 1_000_000
ONE_FLOW = Case("one", CASES["flows"].cake, (Datagrams("one", 1, 1_000_000, packet_bytes=1000),))


def test_the_plan_has_thirty_cases_with_known_tins() -> None:
    assert len(CASES) == 30
    for case in CASES.values():
        dscps = [*(each.dscp for each in case.datagrams), *(each.dscp for each in case.tcp)]
        assert dscps, case.name
        assert set(dscps) <= set(TINS[case.cake.diffserv]), case.name


def test_the_cases_of_the_plan_fill_the_queue() -> None:
    """Without TCP, the datagrams need more than the rate of the shaper."""
    for case in CASES.values():
        if not case.tcp:
            offered_bps = sum(group.count * group.rate_bps for group in case.datagrams)
            assert offered_bps > 1.2 * case.cake.rate_bps, case.name


def test_packets_follow_from_the_seed_and_have_the_rates_of_their_groups() -> None:
    case = CASES["diffserv4, light voice"]
    listed = packets(flows(case, 1))
    assert listed == packets(flows(case, 1)) == sorted(listed)
    assert listed != packets(flows(case, 2))
    for index, flow in enumerate(flows(case, 1)):
        sent = [at_ns for at_ns, own in listed if own == index]
        bits = 8 * flow.group.packet_bytes * (len(sent) - 1)
        rate_bps = bits * NS_PER_S / (sent[-1] - sent[0])
        assert rate_bps == pytest.approx(flow.group.rate_bps, rel=SPREAD)
        assert sent[-1] < LENGTH_S * NS_PER_S


def test_results_of_datagrams_by_hand() -> None:
    """Four packets arrive, at 10, 20, 30 and 40 ms. The period is 15 to 45 ms. The second packet
    waits for 2 ms and the third for 6 ms. The fourth is dropped, and the first leaves too early.
    """
    some = flows(ONE_FLOW, 1)
    listed = [(10 * MS, 0), (20 * MS, 0), (30 * MS, 0), (40 * MS, 0)]
    left = [(0, 11 * MS), (1, 22 * MS), (2, 36 * MS)]
    seen = of_datagrams(some, listed, left, (15 * MS, 45 * MS))["one-1"]
    assert (seen["offered"], seen["delivered"]) == (3, 2)
    assert seen["goodput_bps"] == pytest.approx(2 * 8 * 972 / 0.03)
    assert [seen[f"{key}_s"] for key in ("mean", "p50", "p95")] == pytest.approx([4e-3, 2e-3, 6e-3])


def tcp_packet(at_ns: int, number: int, *, tos: int = 0) -> Seen:
    """Return a recorded TCP packet with this identification and sequence number."""
    ip = struct.pack(">BBHHHBBH8s", 0x45, tos, 1500, number, 0, 64, 6, 0, bytes(8))
    return Seen(at_ns, ip + struct.pack(">HHII", 1, 2, number, 0), 1500)


def test_results_of_tcp_by_hand() -> None:
    """The second packet of DSCP 8 is dropped, and its first packet is marked. Each path takes 1 ms
    without a queue.
    """
    came = [tcp_packet(0, 1, tos=8 << 2), tcp_packet(MS, 2, tos=8 << 2), tcp_packet(MS, 3)]
    left = [tcp_packet(4 * MS, 1, tos=8 << 2 | 3), tcp_packet(7 * MS, 3)]
    seen = of_tcp(came, left, (0, 10 * MS), MS)
    assert {
        dscp: (each["arrived"], each["left"], each["marked"]) for dscp, each in seen.items()
    } == {
        "0": (1, 1, 0),
        "8": (2, 1, 1),
    }
    assert [seen[dscp]["p95_s"] for dscp in ("8", "0")] == pytest.approx([3e-3, 5e-3])


def test_goodput_of_groups_and_jains_index() -> None:
    """Of three flows, two have 1 and one has 4: Jain's index is 36 / (3 * 18)."""
    seen = of_flows({"a-1": 1.0, "a-2": 1.0, "b-1": 4.0})
    assert (seen[goodput_of("a")], seen[goodput_of("b")], seen[goodput_of("all flows")]) == (
        2,
        4,
        6,
    )
    assert seen[JAIN] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("quantity", "kernel", "engine", "expected"),
    [
        (JAIN, 0.5, 0.509, Agreement.EQUAL),
        (JAIN, 0.5, 0.511, Agreement.APART),
        (goodput_of("a"), 100.0, 101.9, Agreement.EQUAL),
        (goodput_of("a"), 100.0, 102.1, Agreement.APART),
        (count("dropped"), 1000.0, 1101.0, Agreement.APART),
        (count("dropped"), 4.0, 6.5, Agreement.EQUAL),
        (count("dropped"), 0.0, 3.0, Agreement.EQUAL),
        (count("dropped"), 0.0, 4.0, Agreement.APART),
    ],
)
def test_bands(quantity: Quantity, kernel: float, engine: float, expected: Agreement) -> None:
    for is_paired in (False, True):
        seen = quantity.compare([kernel] * 3, [engine] * 3, is_paired=is_paired)
        assert seen.agreement is expected


def test_pairs_decide_what_independent_means_leave_open() -> None:
    """The values vary by 20 % from seed to seed, but only by 1 % within a pair."""
    kernel, engine = [80.0, 100.0, 120.0], [81.0, 101.0, 121.0]
    compare = goodput_of("a").compare
    assert compare(kernel, engine, is_paired=True).agreement is Agreement.EQUAL
    assert compare(kernel, engine, is_paired=False).agreement is Agreement.UNDECIDED


def test_the_delay_of_the_path_includes_one_transmission() -> None:
    """1,500 bytes take 1.2 ms at 10 Mbit/s. An ACK takes 1.28 ms at 0.25 Mbit/s, and its segment
    0.6 ms at 20 Mbit/s.
    """
    assert path_delay_ms(CASES["TCP, flows"]) == pytest.approx(21.2)
    assert path_delay_ms(CASES["TCP, ack-filter"]) == pytest.approx(21.88)


def test_scenarios_are_accepted_with_another_queue() -> None:
    for name, case in CASES.items():
        if case.tcp:
            tree = tcp_scenario(case, 1, "fq_codel")
        else:
            tree = scenario(case, 1, flows(case, 1), "fq_codel")
        connections = sum(group.count for group in case.tcp)
        datagrams = sum(group.count for group in case.datagrams)
        assert len(lh.Scenario(tree).typed.flows) == connections + datagrams, name


def test_the_page_has_the_stored_results() -> None:
    results = Results.read()
    page = PAGE.read_text()
    for rows in (answer(results), *counted(results), *not_equal(results), *values_of(results)):
        assert rows in page
    assert all(len(values) > 1 for case in results.kernel.values() for values in case.values())


def test_results_are_the_same_after_they_were_stored(tmp_path: Path) -> None:
    case = CASES["flows"]
    kernel = {JAIN: [0.9, 0.8], count("dropped in tin 0"): [10.0, 20.0]}
    engine = {JAIN: [0.9, 0.8], count("dropped in tin 0"): [30.0, 40.0]}
    results = Results("hash", {case.name: kernel}, {case.name: engine}, {"other": {}})
    results.keep(tmp_path / "kept.json.gz")
    read = Results.read(tmp_path / "kept.json.gz")
    assert read == results
    outcomes = [each.difference.agreement for each in read.every()]
    assert outcomes == [Agreement.EQUAL, Agreement.APART]
    [row] = [row for row in not_equal(read) if row.startswith(f"| {case.name}")]
    assert "different" in row
