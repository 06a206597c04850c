"""Users of a conflict graph through relays, and settings that are applied to the kernel."""

import os

import pytest

import lasthop as lh
from emulating import skip_without_rights
from lasthop.emulation import emulate
from lasthop.linux.sock_ops import first_timeouts, group_of_process, timeout_of_a_syn
from test_emulated_kinds import ROW, SHORT


@pytest.fixture(autouse=True, scope="module")
def rights() -> None:
    skip_without_rights()


def test_the_middle_of_a_row_has_more_connections_between_its_relays(timed: bool):
    # Without a warm-up, all data are counted as sent and as received in the measured time.
    no_warmup = {"warmup": "0 s"}
    answer = emulate(ROW, relays=True, settings=no_warmup, sysctl={"net.ipv4.tcp_timestamps": "1"})
    flows = answer.flows
    assert list(flows.index) == ["a", "b", "c"]
    assert (flows["connections"] > 0).all()
    # the number of connections grows with the round-trip time, which is largest for flow b
    if timed:
        assert (flows["connections"] > 1).all()
        assert flows["rtt_s"].idxmax() == "b"
    # in addition to the programs' data, the links carry the overhead of relays, and data in flight
    sent_bps = answer.links["airtime_fraction"] * 400 * 1040 * 8
    for user_bps, link_bps in zip(flows["goodput_bps"], sent_bps[["1", "2", "3"]], strict=True):
        assert 0 < user_bps < link_bps


def test_relays_are_for_users_of_a_conflict_graph():
    with pytest.raises(lh.UserError, match="relays are for users of a conflict graph"):
        emulate(SHORT, relays=True)
    marks = {"csma.connections": "marks", "csma.aqm": True, "tcp.ecn": True}
    with pytest.raises(lh.UserError, match="marks: relays of an emulation have no such rule"):
        emulate(ROW, relays=True, settings=marks)


def test_the_kernel_follows_the_first_timeout_and_forgets_it():
    group = group_of_process()
    with first_timeouts(30.0):
        assert timeout_of_a_syn() == pytest.approx(30.0, abs=0.02)
        assert group_of_process() == group / f"lasthop-{os.getpid()}"
    assert timeout_of_a_syn() == pytest.approx(1.0, abs=0.02)
    assert group_of_process() == group
    assert not (group / f"lasthop-{os.getpid()}").exists()


def test_settings_that_the_kernel_cannot_follow_are_refused():
    with pytest.raises(lh.UserError, match='follow: "min_rto": expected'):
        emulate(SHORT, follow=["min_rto"])
    two = SHORT + '[flow.other]\ninitial_rto = "3 s"\n'
    with pytest.raises(
        lh.UserError, match="1 s and 3 s: the kernel supports one value for all flows"
    ):
        emulate(two, follow=["initial_rto"])
