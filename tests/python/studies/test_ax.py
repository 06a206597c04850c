"""Studies of cells with aggregation: they measure their values, and draw them from stored runs."""

import numpy as np
import pytest

import lasthop as lh
from lasthop.scenario.scenario import Scenario
from lasthop.studies import kept, ledger
from lasthop.studies.ax import STUDIES, access, bottleneck, cell, shares, slow, updown
from lasthop.studies.study import Run

from .brief import read_by_claims
from .kept_run import claims
from .made_up import a_run

OF_STUDY = {study.name: study for study in STUDIES}


@pytest.fixture(scope="module")
def runs():
    stored = {**claims.load(), "runs": claims.samples()}
    return {study.key: kept.runs_of(study, stored) for study in STUDIES}


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_study_measures_every_value_that_claims_read(study, runs):
    assert read_by_claims(study)
    assert read_by_claims(study) <= set(study.values(runs[study.key]))


@pytest.mark.smoke(2)
@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_study_draws_its_figure_from_stored_values(study, runs):
    figure = study.draw(runs[study.key])
    assert all(axes.get_ylabel() for axes in figure.axes)
    assert figure.axes[-1].get_xlabel()
    assert len(figure.legends) == 1


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_findings_are_about_claims_and_have_figures(study, runs):
    [(claim, text)] = study.findings(runs[study.key]).items()
    assert claim in {entry.id for entry in ledger.load().claims}
    assert any(letter.isdigit() for letter in text)


def test_every_statement_is_judged_in_two_cells_and_by_ten_seeds_at_least():
    for claim in ledger.load().select(["ax"]):
        read = {key for check in claim.checks for key in check.rule.reads()}
        assert {"ax", "ac"} <= {key.split(".")[1].split("_")[1] for key in read}
    for study in STUDIES:
        seeds = [tree.get("seed") for tree in study.points.values()]
        replications = [tree["replications"] for tree in study.points.values()]
        traced = [seed for seed in seeds if seed is not None]
        assert set(replications) <= {1, 10, bottleneck.MANY}
        assert sorted(traced) == sorted([*bottleneck.SEEDS] * (len(traced) // 10))
        assert replications.count(1) == len(traced)


@pytest.mark.parametrize(
    ("phy", "mpdus", "air_s"), [("ax", 256, 4.9e-3), ("ac", 64, 1.0e-3), ("ax20", 101, 5.45e-3)]
)
def test_the_longest_aggregate_has_the_stated_duration(phy, mpdus, air_s):
    """The duration of the aggregate follows from the PHY rate and from MPDUs of 1,538 B, each with
    a delimiter of 4 B and padding to a multiple of 4 B.
    """
    tree = Scenario(OF_STUDY["access"].points[f"{phy}-full-txop0"])
    [rate_bps] = {station["rate_bps"] for station in tree["stations"]}
    assert mpdus * 1544 * 8 / rate_bps == pytest.approx(air_s, rel=0.02)


def test_the_access_point_has_the_parameters_of_hostapd_and_one_ppdu_per_access():
    tree = Scenario(OF_STUDY["updown"].points["ax-4_4-1000"])
    assert tree["cell"]["ap"]["txop_limit_s"] is None
    assert (tree["cell"]["ap"]["cwmin"], tree["cell"]["ap"]["cwmax"]) == (15, 63)


def test_even_is_the_ratio_of_a_download_to_an_upload():
    run = a_run(
        stations={
            "up-1": {"goodput_bps": np.array([4e6, 2e6])},
            "down-1": {"goodput_bps": np.array([1e6, 1e6])},
            "down-2": {"goodput_bps": np.array([3e6, 3e6])},
        }
    )
    assert updown.evenness(run).samples == pytest.approx([0.5, 1.0])


def test_the_part_of_the_slow_station_is_of_the_air_time_of_three():
    stations = {
        name: {"airtime_fraction": np.array([part])}
        for name, part in (("fast-1", 0.2), ("fast-2", 0.3), ("slow", 0.5))
    }
    assert slow.air(a_run(stations=stations)).samples == pytest.approx([0.5])


def test_the_length_of_the_queue_is_a_part_of_its_limit():
    run = a_run(queues={"ap": {"occupancy_packets": np.array([150.0])}})
    assert (shares.cell.occupancy / 300)(run).samples == pytest.approx([0.5])


def test_the_oscillation_is_that_of_the_settled_capacity():
    def traced(values):
        track = {"list": "links", "name": "vsb", "quantity": "capacity_bps", "values": values}
        return Run({}, series={"time_s": [5.0, 12.0, 14.0, 16.0], "tracks": [track]})

    runs = {
        f"ax-full-trace{seed}": traced([600.0, 90.0, 110.0, 100.0 if seed > 1 else 90.0])
        for seed in bottleneck.SEEDS
    }
    swings = bottleneck.swing(runs, "ax", "full").samples
    assert len(swings) == 10
    assert swings[1:] == pytest.approx(np.full(9, np.std([90, 110, 100]) / 100))


def test_gains_are_relative_to_one_ppdu_per_access():
    def carrying(bps):
        return a_run(cells={"cell": {"goodput_bps": np.array([bps])}})

    goodputs = dict(zip(access.LIMITS_US, (1e8, 1.1e8, 1.2e8, 1.5e8), strict=True))
    runs = {f"ax-full-txop{limit}": carrying(bps) for limit, bps in goodputs.items()}
    gains = access.gains(runs, access.BY_LIMIT, "ax", "full")
    assert [float(gain.samples[0]) for gain in gains] == pytest.approx([1.0, 1.1, 1.2, 1.5])


def test_a_linux_queue_behind_a_bottleneck_of_short_queues_is_a_fifo():
    """With short queues, a station's packets need less than 5 ms of air time, so that they go to
    the device immediately. Therefore the queue of mac80211 and a FIFO give equal results.
    """
    times = {"warmup": "0.2 s", "duration": "0.8 s", "replications": 1}
    vsb = {"vsb": {"queue": 200, "rate": "300 Mbps"}}

    def simulated(queue, vsb):
        scenario = bottleneck.scenario("ax", "down", "short queues", vsb, queue)
        samples = lh.simulate(scenario | times, jobs=1).samples
        return repr(samples[samples.list == "flows"].value.tolist())  # as text a NaN equals a NaN

    assert simulated(cell.ROOM, vsb) == simulated(cell.LINUX, vsb)
    assert simulated(cell.ROOM, {}) != simulated(cell.LINUX, {})
