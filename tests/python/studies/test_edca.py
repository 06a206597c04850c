"""Studies of 802.11e: they measure the values that claims use, draw figures and find extremes of
curves.
"""

import dataclasses

import numpy as np
import pytest

from lasthop.scenario.scenario import check
from lasthop.studies import ledger
from lasthop.studies.edca import (
    STUDIES,
    cell,
    counters,
    fig05,
    fig06,
    fig07,
    fig08,
    fig09,
    fig10,
    fig12,
    receive_windows,
)
from lasthop.studies.edca.cell import CWMINS
from lasthop.studies.study import Study

from .brief import RunsByStudy, read_by_claims, shortened


def short(study: Study) -> Study:
    """Return the study with runs of two seconds and receive windows of at most 2 packets.

    The Markov chain of seven windows of 12 packets takes a second, and there are many such chains.
    """
    brief = shortened(study, "2 s", "0.5 s")
    if study is not receive_windows.STUDY:
        return brief
    points = {
        name: {**tree, "tcp": {**tree["tcp"], "window": receive_windows.WINDOWS[0]}}
        for name, tree in brief.points.items()
    }
    return dataclasses.replace(brief, points=points)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> RunsByStudy:
    return RunsByStudy(map(short, STUDIES), tmp_path_factory.mktemp("studies"))


@pytest.mark.smoke(3)
@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_study_measures_every_value_that_claims_read(study, runs):
    values = study.values(runs[study.key])
    assert read_by_claims(study)
    assert read_by_claims(study) <= set(values)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_study_draws_its_figure_with_labelled_axes(study, runs):
    figure = study.draw(runs[study.key])
    assert all(axes.get_ylabel() for axes in figure.axes)
    assert figure.axes[-1].get_xlabel()


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_findings_are_about_claims_and_have_figures(study, runs):
    claims = {claim.id for claim in ledger.load().claims}
    findings = study.findings(runs[study.key])
    assert set(findings) <= claims
    assert all(any(letter.isdigit() for letter in text) for text in findings.values())


def test_the_model_predicts_every_scenario_without_a_wire(runs):
    for study in STUDIES:
        for name, run in runs[study.key].items():
            wire = check(study.points[name])["wire"]
            refused = wire["delay_s"] > 0 or wire["loss"] > 0
            assert bool(run.prediction) != refused, (study.name, name)


def test_the_setting_is_that_of_table_2():
    tree = check(cell.scenario("down"))
    access = {"control_rate_bps": 2e6, "cwmin": 31, "cwmax": 1023, "aifsn": 2}
    assert {key: tree["cell"]["ap"][key] for key in access} == access
    assert [station["rate_bps"] for station in tree["stations"]] == [11e6] * 7
    headers = tree["cell"]["mac_header_bytes"] + tree["cell"]["llc_bytes"]
    [tcp] = {(f["tcp"]["mss_bytes"], f["tcp"]["header_bytes"]) for f in tree["flows"]}
    assert tcp[0] + tcp[1] + headers == 1538
    assert tcp[1] + headers == 78


def test_equal_settings_of_two_figures_share_a_run():
    assert check(fig05.STUDY.points["down-31"]).key == check(fig06.STUDY.points["31-31"]).key


def test_saturation_is_interpolated_between_the_windows():
    active = np.array([1.0, 2.0, 6.3, 7.0, 7.0, 7.0, 7.0])
    # A curve is saturated from 95 % of seven active stations on, which is 6.65.
    # This value is in the middle between 6.3 at CWmin 15 and 7 at CWmin 31, on a log2 scale.
    assert fig06.saturation(active) == pytest.approx(2**4.5 - 1)
    assert np.isnan(fig06.saturation(np.ones(len(CWMINS))))


def test_the_knee_is_where_a_curve_has_lost_a_twentieth():
    flat = np.full(len(fig12.DELAYS), 4.0)
    assert fig12.knee(flat) == fig12.DELAYS[-1]
    falling = flat.copy()
    falling[3:] = 3.6  # The curve falls to 95 % in the middle between 20 and 30 ms.
    assert fig12.knee(falling) == pytest.approx(25.0)


@pytest.mark.parametrize("memory", [False, True], ids=("p-persistent", "802.11"))
def test_counters_without_memory_equal_the_chain_and_802_11_counters_equal_the_engine(memory, runs):
    run = runs["edca-fig05"]["down-63-fixed"]
    counted = counters.simulate(63, memory=memory)
    chain = cell.active(run).predicted, cell.station_collisions(run).predicted
    # In 30 runs of 200 s of study fig05, the engine has 1.0619 active stations on average.
    # Its collision rate is 0.0471.
    active, collisions = (1.0619, 0.0471) if memory else chain
    estimate = counted.active_from_receipt if memory else counted.active
    # 1.5 half widths of a 95 % interval are three standard errors.
    assert estimate.mean == pytest.approx(active, abs=1.5 * estimate.ci95)
    assert counted.collisions.mean == pytest.approx(collisions, abs=1.5 * counted.collisions.ci95)
    assert (abs(counted.active.mean - chain[0]) > 3 * counted.active.ci95) == memory


def test_the_optimum_is_the_top_of_the_parabola():
    exponents = np.log2(np.asarray(fig08.NEAR_OPTIMUM) + 1.0)
    throughput = 5.0 - (exponents - 5.3) ** 2
    assert fig08.optimum(throughput) == pytest.approx(2**5.3 - 1)
    assert fig08.collision_at_optimum(throughput, exponents) == pytest.approx(5.3)


def test_bursts_stay_complete_if_limits_divide():
    assert fig07.held_together(4, 2)
    assert not fig07.held_together(2, 4)  # a burst of the AP ends within a station's burst
    assert not fig07.held_together(3, 3)  # a window of 4 is not a multiple of 3


def test_the_spread_is_relative_to_the_smallest():
    assert fig09.spread(np.array([5.0, 5.5, 5.25])) == pytest.approx(0.1)


def test_the_bump_is_read_with_its_delay_and_height(runs):
    values = fig10.measure(runs["edca-fig10"])
    # The traffic of 1.5 s is not enough to determine the delay to a microsecond.
    assert np.all(values["bump_delay"].samples >= fig10.EXCHANGE)
    assert np.all(values["bump_delay"].samples < fig10.AFTER)
    assert np.all(values["bump"].samples > values["before_bump"].samples)
    assert np.all(values["spread"].samples > 0.03)


def test_the_edge_of_the_bump_is_the_duration_of_an_exchange():
    tree = check(cell.scenario("down"))
    access = tree["cell"]["ap"]
    mac_ack_s = tree["cell"]["preamble_s"] + 14 * 8 / access["control_rate_bps"]
    aifs_s = tree["cell"]["sifs_s"] + access["aifsn"] * tree["cell"]["slot_s"]
    assert tree["cell"]["sifs_s"] + mac_ack_s + aifs_s == pytest.approx(fig10.EXCHANGE * 1e-6)
