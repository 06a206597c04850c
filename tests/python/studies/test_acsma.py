"""Studies of CSMA networks: they measure the values that claims use, and draw their figures."""

import numpy as np
import pytest

from lasthop.models.acsma.topologies import TOPOLOGIES
from lasthop.scenario.scenario import check
from lasthop.studies import ledger
from lasthop.studies.acsma import STUDIES, capacity, network, overhead, settings, theory
from lasthop.studies.study import Quantity, Run

from .brief import RunsByStudy, read_by_claims, shortened


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> RunsByStudy:
    brief = [shortened(study, "6 s", "1 s") for study in STUDIES]
    return RunsByStudy(brief, tmp_path_factory.mktemp("studies"))


@pytest.mark.smoke(4)
@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_study_measures_every_value_that_claims_read(study, runs):
    values = study.values(runs[study.key])
    assert read_by_claims(study)
    assert read_by_claims(study) <= set(values)


def test_every_claim_has_its_studies():
    names = {study.name for study in STUDIES}
    for claim in ledger.load().select(["acsma"]):
        read = {key.split(".")[0] for check in claim.checks for key in check.rule.reads()}
        assert read <= names, claim.id


@pytest.mark.parametrize(
    "study", [candidate for candidate in STUDIES if candidate.draw], ids=lambda study: study.name
)
def test_a_study_draws_its_figure_with_labelled_axes(study, runs):
    figure = study.draw(runs[study.key])
    assert all(axes.get_ylabel() for axes in figure.axes)
    assert figure.axes[-1].get_xlabel()


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_findings_are_about_claims_and_have_figures(study, runs):
    claims = {claim.id for claim in ledger.load().select(["acsma"])}
    findings = study.findings(runs[study.key])
    assert set(findings) <= claims
    assert all(any(letter.isdigit() for letter in text) for text in findings.values())


@pytest.mark.parametrize("name", list(TOPOLOGIES))
def test_scenarios_have_the_conflicts_of_the_models(name):
    links, conflicts, _, routes = TOPOLOGIES[name]
    csma = check(network.scenario("x", name))["csma"]
    pairs = {
        frozenset((link["name"], other)) for link in csma["links"] for other in link["conflicts"]
    }
    between = "/" if "/" in conflicts else "-"
    assert pairs == {frozenset(pair.split(between)) for pair in conflicts.split()}
    assert [link["name"] for link in csma["links"]] == links.split()
    assert [list(flow["route"]) for flow in csma["flows"]] == [
        route.split() for route in routes.values()
    ]


def run_of(**rates_bps: list[float]) -> Run:
    flows = {name.replace("_", "-"): {"goodput_bps": rate} for name, rate in rates_bps.items()}
    return Run({"flows": flows})


def test_the_gap_is_that_of_reciprocal_rates():
    best = network.best("a")
    half = run_of(**{f"user_{user}": [best[user - 1] * 8000 / 2] for user in network.LINKS})
    expected = -sum(network.C_PPS / rate for rate in best)
    assert network.gap(half).samples[0] == pytest.approx(expected)
    assert network.total(half).samples[0] == pytest.approx(sum(best) / 2)


def test_a_user_without_goodput_has_an_infinite_gap():
    starved = run_of(user_1=[8e5], user_2=[0.0], user_3=[8e5], user_4=[8e5])
    assert network.gap(starved).samples[0] == -np.inf


def test_the_distance_is_that_of_the_farthest_flow_and_not_of_chance():
    ours = network.rates(run_of(user_1=[8000.0, 24000.0], user_2=[4000.0, 16000.0]))
    wanted = [network.known(2.0), network.known(2.0)]
    # The mean of user 1 is exactly the wanted value.
    assert network.distance(ours, wanted).samples == pytest.approx([0.75, 0.0])
    noise = np.random.default_rng(1).normal(1.0, 0.1, (4, 400))
    alike = [Quantity(row) for row in noise]
    distance = network.distance(alike, [network.known(1.0)] * 4).measured()
    # The four flows differ from their wanted rate only by noise, so that the distance is near 0.
    # If the farthest flow were chosen in each replication, the mean would be far above 0.
    assert abs(distance.simulated) < 2.0 * distance.ci95


def test_growth_is_that_of_the_fastest_queue():
    def run(*means: float) -> Run:
        queues = {f"{k}": {"occupancy_packets": [mean]} for k, mean in enumerate(means, 1)}
        return Run({"queues": queues})

    growth = capacity.growth(run(1.0, 5.0, 0.0, 0.0), run(2.0, 4005.0, 0.0, 3.0))
    assert growth.samples[0] == pytest.approx(2.0)


@pytest.mark.parametrize("point", list(capacity.STUDY.points))
def test_arrivals_are_inside_the_capacity_region_of_topology_a(point):
    tree = capacity.STUDY.points[point]
    # Arrival rate of each user, divided by the 600 packets/s of a link without contention.
    # A packet has 8000 bit.
    y = {
        user: float(flow["udp"]["rate"].removesuffix(" bps")) / 8000 / 600
        for user, flow in tree["flow"].items()
    }
    load = 0.3 if "0_3" in point else 0.95
    # Only one schedule is active at a time: only link 2, links 1 and 3, or links 1 and 4.
    assert y["user-2"] + y["user-3"] + y["user-4"] == pytest.approx(load)
    assert y["user-1"] + y["user-2"] == pytest.approx(load)
    assert all(part > 0.0 for part in y.values())


def test_silences_are_rows_of_empty_bins():
    values = np.array([0.0, 0.0, 3.0, 0.0, 1.0, 2.0, 0.0])
    assert settings.silent(values) == [1.0, 0.5, 0.5]
    assert settings.silent(np.ones(3)) == []


def test_the_mean_silence_is_of_all_users_and_weighs_by_length():
    times = [99.5, 100.0, 100.5, 101.0, 101.5, 102.0]  # the first two times are in the warm-up
    rates = {1: [0.0, 0.0, 0.0, 0.0, 5.0, 0.0], 2: [1.0] * 6, 3: [1.0] * 6, 4: [1.0] * 6}
    tracks = [
        {"list": "flows", "name": f"user-{user}", "quantity": "goodput_bps", "values": values}
        for user, values in rates.items()
    ]
    run = Run({}, series={"time_s": times, "tracks": tracks})
    assert settings.silence(run) == pytest.approx((1.0 + 0.25) / 1.5)


def test_efficiency_is_the_part_of_the_time_that_sends():
    flow = {"goodput_bps": [8e5], "connections_opened": [100.0], "connections_closed": [90.0]}
    value = overhead.efficiency(Run({"flows": {"user-1": flow}}), 1).samples[0]
    sending = 100.0 * 400.0 * 14e-6
    assert value == pytest.approx(sending / (sending + 100 * 418e-6 + 90 * 12e-6))


def test_effects_that_the_model_ignores_are_not_compared_with_it():
    samples = {"flows": {"user-1": {"goodput_bps": [8e5]}}}
    prediction = {"flows": {"user-1": {"goodput_bps": 9e5}}}
    assert network.rate(Run(samples, prediction), 1).predicted == pytest.approx(112.5)
    nack = {"csma": {"acks": "contend"}}
    assert network.rate(Run(samples, prediction, scenario=nack), 1).predicted is None


def test_the_equilibrium_of_the_fluid_systems_is_the_optimum():
    assert theory.rest_distance("a", "rtt") < 1e-4
