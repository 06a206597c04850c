"""Conversion of a router's scenario to the fluid model: all parameters by hand, and scenarios that
are not supported.
"""

from math import expm1
from sys import modules
from typing import Any
from unittest.mock import Mock

import pytest

from lasthop import Scenario
from lasthop.models import ModelError, choose
from lasthop.models.hotspot.padhye import send_rate
from lasthop.models.red import fluid, predict
from lasthop.models.red.network import paths_of
from lasthop.models.red.router import dropped
from lasthop.models.red.senders import delayed_compound, reno
from lasthop.models.red.timeouts import reno_loss
from lasthop.scenario.typed import read
from lasthop.stability import NoEquilibriumError, roots

ROUTER = """\
name = "router"
duration = "60 s"
queue = { limit = 300, red = { min_th = 50, max_th = 500 } }
dumbbell = { flows = 20, access = "50 Mbps", bottleneck = "30 Mbps", rtt = "100 ms" }
tcp = { congestion = "compound", window = 1000, delayed_ack = false }
"""


def scenario(**settings: Any) -> dict[str, Any]:
    pairs = [(path.replace("__", "."), value) for path, value in settings.items()]
    return Scenario(ROUTER, pairs).to_dict()


def values(**settings: Any) -> Any:
    return fluid(scenario(**settings)).case.values


def test_capacity_is_per_flow_and_in_packets() -> None:
    assert values()["capacity"] == pytest.approx(30e6 / (8 * 1500) / 20)
    small = values(tcp__mss="460 B")
    assert small["capacity"] == pytest.approx(30e6 / (8 * 500) / 20)


def test_round_trip_is_propagation_and_transmission() -> None:
    """Segments are sent over the access link and the bottleneck, and ACKs in the reverse direction.
    RED counts packets after the access link.
    """
    data = 8 * 1500 * (1 / 50e6 + 1 / 30e6)
    acks = 8 * 40 * (1 / 50e6 + 1 / 30e6)
    assert values()["rtt"] == pytest.approx(0.1 + data + acks, rel=1e-12)
    published = values(queue__red__form="published", queue__red__weight=0.002)
    assert published["rtt"] == pytest.approx(0.1 + 8 * 1500 / 50e6 + acks, rel=1e-12)


def test_gain_is_flows_times_the_weight_of_an_arrival() -> None:
    """The automatic weight of ns-2 is that for packets of 500 bytes, the default mean length of
    RED.
    """
    translated = fluid(scenario())
    weight = -expm1(-1.0 / (30e6 / (8 * 500)))
    assert translated.case.values["queue_weight"] == pytest.approx(weight, rel=1e-12)
    assert translated.case.decided["gamma"] == pytest.approx(20 * weight, rel=1e-12)
    own = fluid(scenario(queue__red__weight=0.003)).case.decided["gamma"]
    assert own == pytest.approx(20 * 0.003, rel=1e-12)
    slow = fluid(scenario(queue__red__mean_packet="1500 B", queue__red__weight=0))
    assert slow.case.values["queue_weight"] == pytest.approx(-expm1(-1 / 2500), rel=1e-12)


def test_red_without_averaging_is_the_model_without_averaging() -> None:
    assert fluid(scenario(queue__red__weight=1)).case.model.name == "red-instant"


def test_thresholds_count_all_flows() -> None:
    numbers = values()
    assert (numbers["min_th"], numbers["max_th"], numbers["flows"]) == (50.0, 500.0, 20.0)
    assert numbers["queue"] == "total"
    # The limit of the queue includes the packet in service, but RED's queue length here does not.
    assert numbers["buffer"] == 299.0


@pytest.mark.parametrize(("wait", "least", "most"), [(True, 1.0, 2.0), (False, 0.0, 1.0)])
def test_part_dropped_is_the_inverse_of_the_mean_distance(
    wait: bool, least: float, most: float
) -> None:
    """Distances between drops are uniform over the whole numbers up to 1/p_b, or, with `wait`, from
    1/p_b to 2/p_b. Here p_b is the base probability of RED.
    """
    base = 0.02
    distances = [n for n in range(1, 101) if least < n * base <= most + 1e-9]
    if wait:
        distances = list(range(50, 100))
    mean = sum(distances) / len(distances)
    assert dropped(base, wait=wait) == pytest.approx(1.0 / mean, rel=1e-12)
    assert dropped(1.0, wait=wait) == 1.0


def test_ecn_needs_both_ends() -> None:
    assert values(queue__red__ecn=True)["feedback"] == "loss"
    assert values(queue__red__ecn=True, tcp__ecn=True)["feedback"] == "ecn"


def test_groups_are_flows_of_about_one_round_trip_time() -> None:
    far = '{ count = 5, rtt = "300 ms" }'
    translated = fluid(scenario(flow__far=far))
    assert translated.case.model.name == "red-groups"
    assert translated.case.values["share_1"] == pytest.approx(0.8)
    assert [len(group.flows) for group in translated.groups] == [20, 5]
    assert translated.groups[1].rtt_s - translated.groups[0].rtt_s == pytest.approx(0.2, abs=1e-9)
    spread = fluid(scenario(dumbbell__access_spread=0.01))
    assert len(spread.groups) == 1


def test_udp_takes_its_part_of_the_capacity() -> None:
    translated = fluid(scenario(flow__call='{ udp = "3 Mbps" }'))
    assert translated.case.values["capacity"] == pytest.approx(27e6 / 12000 / 20)
    assert any("UDP" in warning for warning in translated.warnings)


@pytest.mark.equation("red", 36)
def test_drop_tail_is_the_threshold_policy() -> None:
    assert values(queue="{ limit = 20 }")["q_th"] == 20.0
    assert values(queue="{ threshold = 20 }")["q_th"] == 20.0
    both = predict(scenario(queue="{ limit = 20 }"))
    assert both["stability"] == predict(scenario(queue="{ threshold = 20 }"))["stability"]


@pytest.mark.equation("red", 25)
def test_proportional_drops_are_the_line_from_zero() -> None:
    translated = fluid(scenario(queue="{ limit = 1000, proportional = { slope = 0.0005 } }"))
    case = translated.case
    assert case.model.name == "red-instant"
    queue = case.equilibrium[1] * 20
    assert case.model.loss(case.derived, list(case.equilibrium))[0] == pytest.approx(0.0005 * queue)


def test_pi_becomes_its_fluid_with_the_packet_in_service() -> None:
    """PI's queue length includes the packet in service. Therefore the rtt of the model does not
    include the bottleneck's transmission time.
    """
    translated = fluid(scenario(queue="{ limit = 400, pi = { target = 90, update = '4 ms' } }"))
    p = translated.case.values
    assert translated.case.model.name == "pi"
    assert (p["target"], p["a"], p["b"], p["update"]) == (90.0, 1.822e-5, 1.816e-5, 0.004)
    assert (p["buffer"], p["queue"], p["delay"]) == (400.0, "total", "queueing")
    assert p["rtt"] == pytest.approx(0.1 + 12e3 / 50e6 + 8 * 40 * (1 / 50e6 + 1 / 30e6), rel=1e-12)
    answer = predict(scenario(queue="{ limit = 400, pi = 90 }"))
    assert answer["queues"][0]["occupancy_packets"]["mean"] == pytest.approx(90.0)
    assert not any("PI steps" in each for each in answer["warnings"])
    slow = predict(scenario(queue="{ limit = 400, pi = { target = 90, update = '50 ms' } }"))
    assert any("PI steps every 0.05 s" in each for each in slow["warnings"])
    far = '{ count = 5, rtt = "300 ms" }'
    groups = fluid(scenario(queue="{ limit = 400, pi = 90 }", flow__far=far)).case
    assert groups.model.name == "pi-groups"
    assert groups.equilibrium[2] * 25.0 == pytest.approx(90.0)


def test_rules_are_those_of_the_senders() -> None:
    assert fluid(scenario()).case.values["tcp"].name == "compound-reno"
    assert fluid(scenario(tcp__congestion="newreno")).case.values["tcp"].name == "reno"
    p = {"alpha": 0.125, "k": 0.75, "beta": 0.5}
    # At 256 packets, Compound grows by 8 packets per round trip, of which Reno's growth is 1.
    # Delayed ACKs halve Reno's growth, so that 7.5 packets remain.
    # At 10 packets, Compound equals Reno.
    assert delayed_compound().increase(256.0, p) * 256.0 == pytest.approx(7.5)
    assert delayed_compound().increase(10.0, p) == pytest.approx(
        reno(2, abe=False).increase(10.0, p)
    )
    assert reno(2, abe=False).increase(10.0, p) == pytest.approx(0.05)


def test_marks_reduce_the_window_by_a_fifth_with_abe() -> None:
    """RFC 8511: a mark multiplies the window of Reno by 0.8. Drops still halve it."""
    settings = {"tcp__congestion": "newreno", "tcp__ecn": True, "tcp__abe": True}
    marking = "{ limit = 2084, red = { min_th = 50, max_th = 550, ecn = true } }"
    dropping = "{ limit = 2084, red = { min_th = 50, max_th = 550 } }"
    with_marks = fluid(scenario(queue=marking, **settings)).case.values["tcp"]
    assert with_marks.decrease(10.0, {}) == pytest.approx(2.0)
    assert with_marks.increase(10.0, {}) == pytest.approx(0.1)
    with_drops = fluid(scenario(queue=dropping, **settings)).case.values["tcp"]
    assert with_drops.decrease(10.0, {}) == pytest.approx(5.0)
    delayed = reno(2, abe=True)
    assert delayed.increase(10.0, {}) == pytest.approx(0.05)
    assert delayed.decrease(10.0, {}) == pytest.approx(2.0)


def test_flows_with_and_without_abe_have_no_common_rule() -> None:
    settings = {"tcp__congestion": "newreno", "tcp__ecn": True, "queue": "{ limit = 400, pi = 90 }"}
    with pytest.raises(ModelError, match=r"`abe` of `flow\.far` differs"):
        fluid(scenario(flow__far="{ count = 5, abe = true }", **settings))


def test_rates_of_flows_add_up_to_the_link() -> None:
    far = '{ count = 5, rtt = "300 ms" }'
    answer = predict(scenario(flow__far=far))
    total = sum(flow["goodput_bps"]["mean"] for flow in answer["flows"])
    assert total == pytest.approx(30e6 * 1460 / 1500, rel=1e-9)
    [link] = answer["links"]
    assert link["utilisation"]["mean"] == pytest.approx(1.0, rel=1e-12)
    near, far_away = (answer["flows"][k]["goodput_bps"]["mean"] for k in (0, -1))
    assert near / far_away == pytest.approx(
        answer["flows"][-1]["rtt_s"]["mean"] / answer["flows"][0]["rtt_s"]["mean"]
    )


def test_stability_is_that_of_the_workbench() -> None:
    [item] = predict(scenario())["stability"]
    spectrum = roots(fluid(scenario()).case, 2)
    assert item["name"] == "bottleneck"
    assert item["stable"] is spectrum.stable
    assert item["rightmost_root"]["real"] == spectrum.abscissa
    assert item["period_s"]["mean"] == spectrum.period


def test_instability_is_a_warning() -> None:
    answer = predict(scenario(queue__red__max_th=60, dumbbell__rtt="300 ms"))
    assert answer["stability"][0]["stable"] is False
    assert any("not stable" in warning for warning in answer["warnings"])


def test_networks_are_this_models() -> None:
    assert choose(scenario()) == "red"


REFUSED = {
    "cubic": ({"tcp__congestion": "cubic"}, "grows by the time since the last loss"),
    "cubic_linux": ({"tcp__congestion": "cubic_linux"}, "grows by the time since the last loss"),
    "westwood": ({"tcp__congestion": "westwood"}, "falls to the amount that the path has carried"),
    "tahoe": ({"tcp__congestion": "tahoe"}, "restarts from one packet"),
    "another discipline": ({"queue": "{ codel = {} }"}, "codel; the model supports red"),
    "two kinds of TCP": (
        {"flow__other": '{ congestion = "newreno" }'},
        "`congestion` of `flow.other` differs from `flow.flow`'s",
    ),
    "finite flows": ({"flow__file": "{ segments = 100 }"}, "`flow.file` ends"),
    "web traffic": ({"flow__site": "{ web = 10 }"}, "`flow.site` is web traffic"),
    "flows that stop": ({"flow__guest": '{ stop = "20 s" }'}, "`flow.guest` stops"),
    "slow hosts": ({"dumbbell__access": "1 Mbps"}, "no link is full"),
    "small windows": ({"tcp__window": 5}, "its receive window of 5 packets"),
    "a large buffer": (
        {"queue": "{ limit = 500 }"},
        "the assumption of a small buffer: 500 packets",
    ),
    "two times at a drop-tail queue": (
        {"queue": "{ limit = 20 }", "flow__far": '{ rtt = "300 ms" }'},
        "of one round-trip time: there are 2 at a drop-tail queue",
    ),
    "bytes of other packets": ({"queue__red__bytes": True}, "counts bytes of a mean packet of 500"),
    "one slow host": (
        {"flow__modem": '{ access = "56 kbps" }'},
        "flow modem is held back at 0.056 Mb/s by modem/access",
    ),
}


@pytest.mark.parametrize("which", REFUSED)
def test_scenario_without_fluid_counterpart_is_refused_with_the_reason(which: str) -> None:
    settings, message = REFUSED[which]
    with pytest.raises(ModelError) as caught:
        fluid(scenario(**settings))
    assert message in str(caught.value)


def test_cell_is_refused() -> None:
    cell = Scenario("examples/hotspot.toml").to_dict()
    with pytest.raises(ModelError, match="`cell` is a WLAN"):
        fluid(cell)


@pytest.mark.parametrize(
    ("loss", "how"), [("0.01", "at random"), ("{ every = 100 }", "periodically")]
)
def test_losses_of_the_link_are_refused(loss: str, how: str) -> None:
    lossy = Scenario(f"""\
duration = "10 s"
[link.a]
from = "x"
to = "y"
rate = "10 Mbps"
delay = "10 ms"
loss = {loss}
queue.red = {{ min_th = 5, max_th = 15 }}
[flow.f]
from = "x"
to = "y"
count = 12
window = 1000
""")
    with pytest.raises(ModelError, match=f"link a loses packets {how}"):
        fluid(lossy.to_dict())


def test_parking_lot_has_two_full_links() -> None:
    lot = Scenario("""\
duration = "30 s"
queue.red = { min_th = 5, max_th = 50 }
parking_lot = { hops = 2, flows = 4, cross = 4, bottleneck = "10 Mbps", rtt = "50 ms" }
tcp = { window = 1000 }
""")
    with pytest.raises(ModelError, match="bottleneck-1, bottleneck-2 are full"):
        fluid(lot.to_dict())


def test_full_links_are_named_up_to_a_few() -> None:
    lot = Scenario("""\
duration = "30 s"
queue = 50
parking_lot = { hops = 12, flows = 8, cross = 8, bottleneck = "10 Mbps", rtt = "150 ms" }
tcp = { window = 1000 }
""")
    with pytest.raises(ModelError, match="bottleneck-3 and 9 more are full"):
        fluid(lot.to_dict())


def test_faults_of_flows_are_reported_together_before_their_links_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_links = Mock(side_effect=paths_of)
    monkeypatch.setattr(modules["lasthop.models.red.fluid"], "paths_of", read_links)
    both = Scenario("""\
duration = "30 s"
[link.a]
from = "x"
to = "y"
rate = "10 Mbps"
delay = "10 ms"
loss = 0.01
queue.red = { min_th = 5, max_th = 15 }
[flow.f]
from = "x"
to = "y"
count = 12
window = 1000
congestion = "cubic"
""")
    with pytest.raises(ModelError) as caught:
        fluid(both.to_dict())
    assert [which for which, _ in caught.value.reasons] == ["eq. 1", "eq. 4"]
    assert read_links.call_count == 0
    fluid(scenario())
    assert read_links.call_count == 1


def test_queue_above_its_limit_is_refused() -> None:
    with pytest.raises(ModelError, match="buffer = 54 ends below"):
        predict(scenario(queue__limit=55))
    with pytest.raises(NoEquilibriumError):
        _ = fluid(scenario(queue__limit=55)).case.equilibrium


@pytest.mark.parametrize(
    ("settings", "least"),
    [
        ({"dumbbell__rtt": "5 ms", "dumbbell__flows": 150, "queue__red__max_th": 60}, 2),
        ({"queue": "{ limit = 15 }", "dumbbell__rtt": "20 ms"}, 4),
    ],
)
def test_windows_too_small_for_congestion_avoidance_are_refused(
    settings: dict[str, Any], least: int
) -> None:
    with pytest.raises(ModelError, match=f"least_rest = {least}, too small for congestion av"):
        predict(scenario(**settings))


def test_reno_that_fills_the_link_is_padhyes() -> None:
    """At the computed loss, with the queue and the round-trip time that follow from this loss, the
    link is fully used.
    """
    tree = scenario(
        dumbbell__rtt="10 ms",
        dumbbell__flows=30,
        queue__red__max_th=400,
        queue__red__min_th=10,
        tcp__congestion="newreno",
    )
    translated = fluid(tree)
    tcp = read(tree).tcp_flows[0].tcp
    loss = reno_loss(translated, tcp)
    assert loss is not None
    queue = 10.0 + loss / (dropped(0.1, wait=True) / 390.0)
    rtt = translated.case.values["rtt"] + queue / 2500.0
    assert loss < dropped(0.1, wait=True)
    rate = send_rate(loss, 1e6, rtt, 0.2, 1.0)
    assert 30 * rate * (1.0 - loss) == pytest.approx(2500.0, rel=1e-9)


def test_losses_are_doubted_where_timeouts_count_and_not_elsewhere() -> None:
    def doubted(**settings: Any) -> bool:
        return any("Padhye" in each for each in predict(scenario(**settings))["warnings"])

    small = {"dumbbell__rtt": "10 ms", "dumbbell__flows": 30, "queue__red__max_th": 100}
    assert doubted(**small)
    assert not doubted(dumbbell__rtt="300 ms")  # Compound has a window above 16 packets.
    assert not doubted(**small, queue__red__ecn=True, tcp__ecn=True)
    assert doubted(queue="{ limit = 15 }", dumbbell__rtt="60 ms")


def test_receive_window_below_equilibrium_is_refused() -> None:
    with pytest.raises(ModelError, match="most_window = 16, the receive window, ends"):
        predict(scenario(tcp__window=16))


@pytest.mark.parametrize("congestion", ["reno", "newreno", "compound"])
def test_growth_by_segments_is_growth_by_acks_where_each_is_acknowledged(congestion: str) -> None:
    def rest(**settings: Any) -> Any:
        return list(fluid(scenario(tcp__congestion=congestion, **settings)).case.equilibrium)

    each = rest()
    delayed = rest(tcp__delayed_ack=True)
    assert rest(tcp__delayed_ack=True, tcp__byte_counting=True) == each != delayed


def test_flows_that_grow_otherwise_are_no_one_fluid() -> None:
    tree = scenario(tcp__delayed_ack=True)
    tree["flows"][0]["tcp"]["byte_counting"] = True
    with pytest.raises(ModelError, match="byte_counting"):
        fluid(tree)
