"""Saturated 802.11e cells of two classes, compared with Bianchi's chain with contention zones for
each class.

Every run has ten replications of 400 s and a fixed seed. A class's goodput is the mean over its
stations. The half width of its 95 % interval is asserted, so that noise never conceals an error.
"""

import pytest
from scipy import stats

import lasthop as lh
from lasthop.models.dcf import airtime, freezing, zones
from lasthop.models.dcf.predict import contending


def up(**settings):
    return {"count": 5, "udp_up": "greedy", **settings}


def of_category(name, **settings):
    return {"count": 4, "udp_up": {"rate": "greedy", "category": name}, **settings}


TWO_WINDOWS = {"first": up(cwmin=15, cwmax=31), "second": up()}
TWO_LIMITS = {
    "first": up(cwmin=15, cwmax=63, txop_packets=3),
    "second": up(txop_limit="5 ms", txop_packets=2),
}
TWO_CATEGORIES = {"first": of_category("video"), "second": of_category("best-effort", aifsn=3)}
LATE = {"first": up(), "second": up(aifsn=5)}
ON_ONE_NODE = {
    "first": {"udp_down": {"rate": "greedy", "category": "video"}},
    "second": {"udp_down": "greedy"},
    "third": {"count": 4, "udp_up": "greedy"},
}


def simulate(stations, countdown):
    return lh.simulate(
        {
            "name": "two classes",
            "duration": "400 s",
            "warmup": "1 s",
            "replications": 10,
            "seed": 1,
            "cell": {"phy": "802.11b", "countdown": countdown},
            "station": stations,
        }
    )


def categories_of(scenario):
    """Return the access categories of a scenario, in the order of its flows."""
    return [zones.category_of(scenario, flow) for flow in scenario.udp_flows]


def with_zones(result):
    scenario = result.scenario.typed
    cell = scenario.cell
    lead_s = airtime.eifs_lead_s(cell)
    return zones.solve(categories_of(scenario), cell.slot_s, cell.sifs_s, lead_s)


def with_freezing(result):
    """Return the solution of the model with frozen counters, for equal AIFSN. A TXOP is represented
    by one long exchange.
    """
    scenario = result.scenario.typed
    categories = categories_of(scenario)
    assert len({category.aifsn for category in categories}) == 1
    return freezing.solve(*contending(scenario, categories))


def assert_classes_agree(result, theory, tolerance):
    samples = result.samples
    samples = samples[(samples.list == "flows") & (samples["quantity"] == "goodput_bps")]
    class_of = {name: name.split("/")[0].split("-")[0] for name in result.flows.index}
    expected = dict(zip(result.flows.index, theory.goodput_bps, strict=True))
    for which in dict.fromkeys(class_of.values()):
        members = [name for name, own in class_of.items() if own == which]
        runs = samples[samples.name.isin(members)].groupby("replication").value.mean()
        half_width = stats.t.ppf(0.975, len(runs) - 1) * runs.sem()
        assert half_width < 0.5 * tolerance * runs.mean()
        model = sum(expected[name] for name in members) / len(members)
        assert runs.mean() == pytest.approx(model, rel=tolerance), which


@pytest.mark.parametrize(
    "stations",
    [TWO_WINDOWS, TWO_LIMITS, TWO_CATEGORIES, LATE, ON_ONE_NODE],
    ids=["windows", "TXOP", "categories", "AIFSN", "internal collisions"],
)
def test_each_class_is_within_three_per_cent_of_bianchis_chain(stations):
    result = simulate(stations, "edca")
    assert_classes_agree(result, with_zones(result), 0.03)


@pytest.mark.parametrize("stations", [TWO_WINDOWS, TWO_LIMITS], ids=["windows", "TXOP"])
def test_counters_of_the_dcf_are_within_three_per_cent_of_the_freezing_rule(stations):
    result = simulate(stations, "dcf")
    assert_classes_agree(result, with_freezing(result), 0.03)


def test_bianchis_chain_is_not_the_freezing_rule():
    """With frozen counters of the DCF, the class with large contention windows has 8 % less goodput
    than in Bianchi's chain.
    """
    result = simulate(TWO_WINDOWS, "dcf")
    with pytest.raises(AssertionError, match="second"):
        assert_classes_agree(result, with_zones(result), 0.03)


def test_the_chain_is_too_high_where_counters_are_short():
    """The chain assumes geometric backoffs, which are often longer than the largest backoff of
    CWmin 15. Therefore its goodput is too high for a class with AIFSN 7 next to AIFSN 2.
    """
    late = {"first": up(cwmin=15), "second": up(cwmin=15, aifsn=7)}
    result = simulate(late, "edca")
    theory = with_zones(result).goodput_bps
    simulated = result.flows["goodput_bps"]
    assert simulated.iloc[:5].mean() == pytest.approx(theory[0], rel=0.01)
    assert simulated.iloc[5:].mean() < 0.96 * theory[5]
