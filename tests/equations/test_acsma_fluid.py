import numpy as np
import pytest

from lasthop.models.acsma.errors import NetworkError
from lasthop.models.acsma.failing import (
    SingleConnection,
    SingleConnectionAqm,
    equal_aggressiveness,
)
from lasthop.models.acsma.fluid import (
    AdaptiveCsma,
    MultiConnection,
    PacketCounts,
    follow,
    mean_packet,
    settle,
)
from lasthop.models.acsma.legacy import legacy_airtime
from lasthop.models.acsma.network import Flow, Network
from lasthop.models.acsma.optimum import RENO, Problem, optimum
from lasthop.models.acsma.reno import (
    connections_for_rtt,
    connections_for_utility,
    drop_tail_loss,
    projected,
    rate_speed,
    rate_speed_of_many,
    window_speed,
)
from lasthop.models.acsma.topologies import topology
from lasthop.models.acsma.utility import AlphaFair, ByPoints

PER_PACKET = 3e-5


def problem(name="a", beta=200.0, utility=RENO, k=10.0):
    return Problem(topology(name, 600.0, utility), k, beta)


def start(of):
    return np.concatenate([np.full(len(of.network.flows), 100.0), np.full(of.wireless, 1e-3)])


@pytest.mark.equation("acsma", "3.5")
def test_a_speed_does_not_take_a_value_below_zero():
    speeds = projected(np.array([-1.0, -1.0, 2.0]), np.array([0.0, 0.5, 0.0]))
    np.testing.assert_array_equal(speeds, [0.0, -1.0, 2.0])


@pytest.mark.equation("acsma", "3.6")
def test_the_equilibrium_of_a_connection_is_the_square_root_of_two_over_the_loss():
    # The rate x at equilibrium is sqrt(2/p)/T. A loss probability p of 2 % and a round-trip time T
    # of 100 ms give 100 packets/s.
    assert rate_speed(100.0, 0.1, 0.02) == pytest.approx(0.0)
    assert rate_speed(50.0, 0.1, 0.02) == pytest.approx(100.0 - 25.0)


@pytest.mark.equation("acsma", "3.7")
@pytest.mark.equation("acsma", "5.34")
def test_a_drop_tail_queue_loses_what_does_not_fit():
    loss = drop_tail_loss(np.array([100.0, 125.0, 0.0]), np.array([100.0, 100.0, 100.0]))
    np.testing.assert_allclose(loss, [0.0, 0.2, 0.0])


@pytest.mark.equation("acsma", "5.2")
@pytest.mark.equation("acsma", "5.5")
@pytest.mark.equation("acsma", "5.6")
@pytest.mark.equation("acsma", "5.7")
def test_the_rate_of_many_connections_is_that_of_their_windows():
    window, n, rtt, price = 7.0, 5.0, 0.3, 0.01
    by_windows = n / rtt * window_speed(window, rtt, price)
    assert rate_speed_of_many(n * window / rtt, n, rtt, price) == pytest.approx(by_windows)


@pytest.mark.equation("acsma", "5.1")
@pytest.mark.equation("acsma", "5.29")
def test_the_printed_rule_opens_the_square_root_of_two_more_connections():
    rtt, rate = 0.7, 130.0
    rule = connections_for_utility(10.0, AlphaFair().derivative(rate), rtt, rate)
    assert rule == pytest.approx(connections_for_rtt(10.0, rtt) / np.sqrt(2.0))
    exact = connections_for_utility(10.0, RENO.derivative(rate), rtt, rate)
    assert exact == pytest.approx(connections_for_rtt(10.0, rtt))


@pytest.mark.equation("acsma", "5.1")
@pytest.mark.equation("acsma", "5.2")
@pytest.mark.equation("acsma", "5.3")
@pytest.mark.parametrize("name", ["a", "b", "c", "d"])
@pytest.mark.parametrize("rtt_s", [1.0, None])
def test_the_equilibrium_of_the_cure_is_the_optimum_for_any_round_trip_time(name, rtt_s):
    of = problem(name)
    system = MultiConnection(of, PER_PACKET, rtt_s=rtt_s)
    rest = settle(system, start(of)).state
    rates = rest[: len(of.network.flows)]
    assert of.kkt_residual(rates, system.prices(rest)) < 1e-6
    np.testing.assert_allclose(rates, optimum(of.network).rates_pps, rtol=1e-6)


def test_user_two_opens_twenty_connections_and_the_others_fewer_than_ten():
    of = problem("a")
    system = MultiConnection(of, PER_PACKET)
    connections = of.k * system.rtts(settle(system, start(of)).state)
    assert connections[1] == pytest.approx(20.0, abs=1.0)
    assert np.all(connections[[0, 2, 3]] < 10.0)


@pytest.mark.equation("acsma", "5.22")
@pytest.mark.equation("acsma", "5.29")
@pytest.mark.parametrize(
    "utility",
    [
        AlphaFair(),
        AlphaFair(1.0, 0.01),
        AlphaFair(3.0, 300.0),
        ByPoints([(50.0, 3e-4), (150.0, 1e-4), (300.0, 5e-6)]),
    ],
)
def test_the_equilibrium_of_rule_5_29_is_the_optimum_of_any_utility(utility):
    of = problem("a", utility=utility)
    system = MultiConnection(of, PER_PACKET, rule="utility", rtt_s=1.0)
    rest = settle(system, start(of)).state
    assert of.kkt_residual(rest[:4], system.prices(rest)) < 1e-6


@pytest.mark.equation("acsma", "5.31")
@pytest.mark.equation("acsma", "5.32")
def test_with_wires_the_equilibrium_is_the_optimum_of_ep():
    of = problem("e")
    system = MultiConnection(of, PER_PACKET, rtt_s=1.0)
    rest = settle(system, start(of)).state
    assert of.kkt_residual(rest[:3], system.prices(rest)) < 1e-6
    np.testing.assert_allclose(rest[:3], optimum(of.network).rates_pps, rtol=1e-6)


@pytest.mark.equation("acsma", "5.41")
@pytest.mark.equation("acsma", "5.42")
def test_with_queues_counted_in_packets_the_equilibrium_is_an_optimum_in_bytes():
    sizes = np.array([1000.0, 500.0, 250.0, 1500.0])
    shape = topology("a", 6e5)
    flows = tuple(
        Flow(flow.name, flow.route, AlphaFair(2.0, 2.0 * size**2))
        for flow, size in zip(shape.flows, sizes, strict=True)
    )
    of = Problem(Network(shape.graph, flows, 6e5), 10.0, 200.0)
    rest = settle(
        PacketCounts(of, sizes, PER_PACKET), np.concatenate([np.full(4, 1e5), np.full(4, 1e-3)])
    ).state
    assert of.kkt_residual(rest[:4], rest[4:]) < 1e-6


@pytest.mark.equation("acsma", "5.43")
def test_the_mean_packet_of_a_link_is_bytes_over_packets():
    # The link carries packets of 1000 bytes at 1000 bytes/s and packets of 40 bytes at 40 bytes/s.
    # In one second these are 1040 bytes in 2 packets.
    both = mean_packet(np.ones((1, 2)), np.array([1000.0, 40.0]), np.array([1000.0, 40.0]))
    assert both[0] == pytest.approx(520.0)


@pytest.mark.equation("acsma", "5.23")
@pytest.mark.equation("acsma", "5.28")
def test_the_lyapunov_function_falls_at_least_as_fast_as_printed():
    of = problem("a")
    system = MultiConnection(of, PER_PACKET, rtt_s=1.0)
    best = optimum(of.network)
    x_best, r_best = best.rates_pps, best.aggressiveness
    n = of.k * 1.0

    def height(states):
        x, r = states[:, :4], states[:, 4:]
        # The expected function is Eq. (5.23) with f(x) = x^2 / 2n, without the superfluous positive
        # part.
        rates = 2.0 * n * (np.log(x / x_best) + x_best / x - 1.0)
        return np.sum(rates + (r - r_best) ** 2 / (2.0 * PER_PACKET), axis=1)

    times = np.linspace(0.0, 60.0, 601)
    # The initial state is so near the equilibrium that no aggressiveness r reaches zero.
    states = follow(system, np.concatenate([0.9 * x_best, 1.1 * r_best]), times)
    falls = np.diff(height(states)) / np.diff(times)
    x = (states[:-1, :4] + states[1:, :4]) / 2.0
    bound = -np.sum(2 * of.k**2 * (x - x_best) ** 2 * (x + x_best) / (x * x_best) ** 2, axis=1)
    assert np.all(falls <= bound + 1e-6)
    assert np.all(bound <= 0.0)


@pytest.mark.equation("acsma", "3.4")
def test_adaptive_csma_settles_inside_the_capacity_region_and_serves_what_arrives():
    of = problem("a", beta=1.0)
    # The arrivals are 0.9 times a point on the border of the capacity region. At this point, the
    # link sets {2} and {1, 3} each send for about half of the time, and the link set {1, 4} for a
    # small fraction.
    arrivals = 600.0 * 0.9 * np.array([0.6, 0.4, 0.4, 0.2])
    system = AdaptiveCsma(of, arrivals, PER_PACKET)
    r = settle(system, np.zeros(4)).state
    np.testing.assert_array_less(arrivals - 1e-6, 600.0 * of.airtime(r, 1.0))


@pytest.mark.equation("acsma", "3.4")
def test_outside_the_capacity_region_aggressiveness_grows_without_bound():
    of = problem("a", beta=1.0)
    arrivals = 600.0 * np.array([0.7, 0.5, 0.3, 0.3])
    r = follow(AdaptiveCsma(of, arrivals, PER_PACKET), np.zeros(4), [0.0, 1e4, 2e4, 4e4])[:, 1]
    assert np.diff(r)[1] / 1e4 > 0.5 * r[1] / 1e4
    assert r[3] > 1.5 * r[2]


@pytest.mark.equation("acsma", "A.1")
@pytest.mark.equation("acsma", "A.2")
@pytest.mark.equation("acsma", "A.3")
def test_without_aqm_the_aggressiveness_of_every_link_grows_without_bound():
    of = problem("a", beta=800.0)
    states = follow(SingleConnection(of, PER_PACKET), start(of), [0.0, 1e3, 2e3, 4e3])
    x, r = states[:, :4], states[:, 4:]
    # At rate x and round-trip time T = 1 s, an equilibrium of x requires the loss probability p =
    # 2/(T x)^2. Therefore 2/(T^2 x) packets are lost per second. The aggressiveness r grows
    # indefinitely in proportion to this loss rate. No rate x exceeds 600 packets/s by much, so that
    # r grows at least at the rate `least`.
    least = PER_PACKET * 2.0 / 601.0
    assert np.all(np.diff(r[1:], axis=0) >= 0.999 * least * np.diff([1e3, 2e3, 4e3])[:, None])
    np.testing.assert_allclose(np.diff(r[1:], axis=0)[1], PER_PACKET * 2.0 / x[3] * 2e3, rtol=0.05)


@pytest.mark.equation("acsma", "A.4")
def test_without_aqm_all_links_end_up_at_the_largest_aggressiveness_which_is_legacy_csma():
    of = problem("a", beta=800.0)
    system = SingleConnection(of, PER_PACKET, rtt_s=0.1, largest=0.01)
    rest = follow(system, start(of), [0.0, 2e4])[-1]
    np.testing.assert_allclose(rest[4:], 0.01, rtol=1e-6)
    legacy = legacy_airtime(of.network.graph, float(np.exp(800.0 * 0.01))).airtime
    np.testing.assert_allclose(of.airtime(rest[4:], 800.0), legacy, rtol=1e-4)
    assert legacy[1] < 1e-3


@pytest.mark.equation("acsma", "B.1")
@pytest.mark.equation("acsma", "B.2")
@pytest.mark.equation("acsma", "B.4")
@pytest.mark.equation("acsma", "B.8")
@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_with_aqm_and_one_connection_every_link_is_equally_aggressive(name):
    of = problem(name, beta=800.0)
    rest = settle(SingleConnectionAqm(of, PER_PACKET), start(of)).state
    np.testing.assert_allclose(rest[4:], equal_aggressiveness(PER_PACKET), rtol=1e-6)
    np.testing.assert_allclose(rest[:4], 600.0 * of.airtime(rest[4:], 800.0), rtol=1e-6)


@pytest.mark.equation("acsma", "B.7")
def test_the_equal_aggressiveness_is_where_both_equations_hold():
    r, alpha, x = equal_aggressiveness(0.1), 0.1, 3.0
    rtt = r / alpha / x
    assert r == pytest.approx(2.0 / (rtt * x) ** 2)
    assert r == pytest.approx(2 ** (1 / 3) * 0.1 ** (2 / 3))


def test_the_appendices_are_of_one_flow_on_each_link():
    with pytest.raises(NetworkError, match="one flow on each wireless link"):
        SingleConnection(problem("d"), PER_PACKET)
    with pytest.raises(NetworkError, match="wireless links only"):
        PacketCounts(problem("e"), np.full(3, 1000.0), PER_PACKET)
