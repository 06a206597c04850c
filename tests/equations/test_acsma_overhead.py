import pytest

from lasthop.models.acsma.overhead import (
    PENTIUM_4,
    PORTS,
    Costs,
    cpu_s,
    efficiency,
    management_s,
    mean_memory_bytes,
    memory_bytes,
    retransmissions_pps,
)


@pytest.mark.equation("acsma", "5.44")
@pytest.mark.equation("acsma", "5.45")
def test_memory_is_a_control_block_for_each_connection():
    assert memory_bytes(20.0) == 10_240.0
    assert mean_memory_bytes([10.0, 20.0, 30.0]) == 10_240.0
    with pytest.raises(ValueError, match="at least one update"):
        mean_memory_bytes([])


@pytest.mark.equation("acsma", "5.46")
@pytest.mark.equation("acsma", "5.47")
@pytest.mark.equation("acsma", "5.48")
def test_opening_closing_and_keeping_connections():
    assert management_s(5.0, 8.0) == pytest.approx(3 * 418e-6)
    assert management_s(8.0, 5.0) == pytest.approx(3 * 12e-6)
    assert management_s(5.0, 5.0) == 0.0


@pytest.mark.equation("acsma", "5.49")
@pytest.mark.equation("acsma", "5.50")
def test_cpu_time_of_a_short_run_by_hand():
    costs = Costs(open_s=4.0, close_s=1.0, packet_s=0.5)
    # The flow opens 2 connections, opens 1, closes 2, and closes 1 at the end. The flow sends 2
    # packets/s in 3 update intervals of 10 s.
    assert cpu_s([2.0, 3.0, 1.0], 2.0, 10.0, costs) == 8.0 + 4.0 + 2.0 + 1.0 + 30.0
    assert efficiency([2.0, 3.0, 1.0], 2.0, 10.0, costs) == pytest.approx(30.0 / 45.0)
    with pytest.raises(ValueError, match="nothing is sent"):
        efficiency([0.0], 0.0, 10.0, costs)


def test_the_efficiency_comes_close_to_one_where_connections_settle():
    assert efficiency([20.0] * 10_000, 149.0, 5.0) == pytest.approx(1.0, abs=1e-4)


def test_table_6_5_assumes_one_or_two_connections_opened_each_five_seconds():
    # The paper reports an efficiency of 94.0 % for user 2 at about 150 packets/s. By (5.50), the
    # user then opens and closes 1.6 connections per update.
    changing = [20.0 + (1.6 if k % 2 else 0.0) * 2 for k in range(10_000)]
    assert efficiency(changing, 150.0, 5.0, PENTIUM_4) == pytest.approx(0.94, abs=0.005)


def test_ports_suffice_and_little_is_sent_again():
    assert PORTS == 65_536
    # Section 6.1.7: user 2 has a loss probability of 9.4e-3 and about 149 packets/s.
    assert retransmissions_pps(149.0, 9.4e-3) == pytest.approx(1.4, abs=0.01)
