import pytest

from lasthop.models.dcf.airtime import exchange_s
from lasthop.models.hotspot.lossy import solve
from lasthop.models.hotspot.picture import hot_spot
from lasthop.models.hotspot.predict import predict
from lasthop.models.hotspot.wire import solve_with_wire, traffic
from lasthop.scenario.typed import read


def test_a_wire_without_delay_does_not_change_the_cell(hotspot):
    scenario = hotspot((2, 0), (0, 1))
    spot = hot_spot(read(scenario))
    assert spot.wired_round_trip_s == 0.0
    assert solve_with_wire(spot) == solve(spot.stations, 75)


@pytest.mark.equation("hotspot", "footnote 19")
def test_pipe_is_the_wired_round_trip_in_ap_service_times(hotspot):
    scenario = hotspot((2, 0), (0, 1))
    scenario["wire"]["delay_s"] = 0.02
    spot = hot_spot(read(scenario))
    at = solve_with_wire(spot)
    service = traffic(spot, at).ap_service_s
    assert at.pipe * service == pytest.approx(0.04, rel=1e-6)
    assert at == solve(spot.stations, 75, at.pipe)


def test_service_time_of_downloads_worked_by_hand(hotspot):
    # A station sends half an ACK for each segment that the AP sends.
    scenario = read(hotspot((0, 1), (0, 1)))
    spot, cell = hot_spot(scenario), scenario.cell
    passing = traffic(spot, solve(spot.stations, 75))
    segment = exchange_s(cell, 1500, 11e6, 2e6, 2e6)
    ack = exchange_s(cell, 40, 11e6, 2e6, 2e6)
    collision = 0.5 / (15.5 + 0.5 + 1)
    expected = 1.5 * 50e-6 + segment + ack / 2 + 15.5 * 20e-6
    expected += collision / (1 - collision) * (segment + 31 * 20e-6)
    assert passing.ap_service_s == pytest.approx(expected, rel=1e-6)
    assert passing.wire_up_bytes == pytest.approx(20.0, rel=1e-6)


def test_service_time_counts_one_packet_of_the_ap(hotspot):
    # In every equilibrium, the AP delivers one packet per service time: an ACK or a segment.
    for connections in [((3, 0), (0, 1)), ((2, 2), (1, 0)), ((0, 3), (0, 1))]:
        scenario = hotspot(*connections)
        for flow in scenario["flows"]:
            flow["tcp"]["mss_bytes"], flow["tcp"]["header_bytes"] = 0, 40
        spot = hot_spot(read(scenario))
        at = solve(spot.stations, 75)
        passing = traffic(spot, at)
        assert passing.wire_down_bytes * (1 - at.loss) == pytest.approx(40.0, rel=1e-9)


def test_a_longer_wire_loses_less(hotspot):
    scenario = hotspot((0, 4), (0, 1))
    losses = []
    for delay in (0.0, 0.01, 0.02, 0.04):
        scenario["wire"]["delay_s"] = delay
        losses.append(solve_with_wire(hot_spot(read(scenario))).loss)
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.8 * losses[0]


def test_a_wire_that_holds_every_window_is_refused(hotspot, refused):
    scenario = hotspot((0, 1), (0, 1))
    scenario["wire"]["delay_s"] = 0.5
    refused(scenario, "a1", "cell is not the bottleneck")


def test_a_wire_slower_than_the_cell_is_refused(hotspot, refused):
    scenario = hotspot((0, 1), (0, 1))
    scenario["wire"]["rate_bps"] = 3_000_000
    refused(scenario, "a1", "load the wire")


def test_a_wire_of_about_the_cells_rate_is_flagged(hotspot):
    scenario = hotspot((0, 2), (0, 2))
    scenario["wire"]["rate_bps"] = 6_500_000
    assert any("loads the wire to about" in warning for warning in predict(scenario)["warnings"])
