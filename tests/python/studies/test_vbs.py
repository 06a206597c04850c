"""Studies of paper 000: their settings, and drawing of their figures."""

import dataclasses

import pytest

from lasthop.scenario.scenario import Scenario
from lasthop.studies.runner import Plan
from lasthop.studies.study import Study
from lasthop.studies.vbs import STUDIES, cell, fixed_point, two_classes


def shortened(study: Study) -> Study:
    """Return the study with runs of two seconds and without predictions."""
    points = {}
    for name, tree in study.points.items():
        points[name] = {**tree, "duration": "3 s", "warmup": "1 s", "replications": 2}
    # This model refuses Compound immediately, so that there are no predictions.
    return dataclasses.replace(study, points=points, model="hotspot")


def test_signal_to_noise_ratios_have_the_errors_they_represent() -> None:
    for error, point in zip(two_classes.SNR_DB, ("0_1", "0_2", "0_3"), strict=True):
        tree = Scenario(two_classes.FALLBACK.points()[f"snr_fixed-{point}"]).to_dict()
        [low, *_] = [station for station in tree["stations"] if station["group"] == "low"]
        assert low["error_down"] == pytest.approx(error, rel=0.005)


def test_all_points_are_scenarios() -> None:
    for study in STUDIES:
        for tree in study.points.values():
            Scenario(tree)


@pytest.mark.parametrize("name", ["fig02", "fig04", "fig08", "fig12", "fig14"])
def test_figures_over_time_and_over_devices_can_be_drawn(name: str, tmp_path) -> None:
    [study] = [shortened(study) for study in STUDIES if study.name == name]
    runs = Plan([study]).run(tmp_path)[study.key]
    assert study.values(runs)
    assert all(text for text in study.findings(runs).values())
    assert study.draw is not None
    study.draw(runs).savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_scattered_starting_points_lead_to_one_fixed_point() -> None:
    tree = cell.scenario("x", cell.classes(0.3))
    distance, starts = fixed_point.spread(tree, fixed_point.PAPER)
    assert starts > fixed_point.SCATTERED
    assert 0.0 < distance < 1e-6
