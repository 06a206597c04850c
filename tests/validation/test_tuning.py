"""Paper 003, sections 6.2 to 6.4: goodput gained by tuned access parameters for seven downloads."""

from pathlib import Path

import pytest

import lasthop as lh
from lasthop.tuning.measures import paired
from lasthop.tuning.trial import Trial

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "examples" / "seven-downloads.toml"


@pytest.fixture(scope="module")
def tuning() -> lh.Tuning:
    # The paper optimises only goodput.
    # It accepts any unequal allocation in which no station starves for seconds.
    return lh.tune(EXAMPLE, min_jain=0)


def best(tuning: lh.Tuning, *, pifs: bool, bursts: bool, equal: bool) -> Trial:
    """Return the confirmed setting with the largest goodput. `pifs`, `bursts` and `equal` are
    whether the setting has PIFS access, TXOPs, and equal CWmin of AP and stations.
    """
    return next(
        trial
        for trial in tuning.confirmed
        if trial.candidate is not None
        and trial.candidate.pifs is pifs
        and trial.candidate.bursts is bursts
        and (trial.candidate.ap_cwmin == trial.candidate.station_cwmin) is equal
    )


def assert_beats(winner: Trial, loser: Trial, margin: float) -> None:
    """Assert that the goodput of `winner` exceeds that of `loser` by more than the fraction
    `margin`, at the lower end of the interval of the paired difference.
    """
    lead = paired(winner.samples, loser.samples, "goodput_bps")
    assert lead is not None
    assert lead.ci95 is not None
    assert lead.mean - lead.ci95 > margin * sum(loser.samples["goodput_bps"]) / 5


def test_choice_gains_a_sixth_over_the_default(tuning):
    assert_beats(tuning.chosen, tuning.present, 0.15)


def test_unequal_windows_beat_the_best_equal_ones(tuning):
    equal = best(tuning, pifs=False, bursts=False, equal=True)
    assert equal.name == "15 / 15"
    assert_beats(best(tuning, pifs=False, bursts=False, equal=False), equal, 0.03)


def test_pifs_beats_every_pair_of_windows(tuning):
    pair = best(tuning, pifs=False, bursts=False, equal=False)
    assert_beats(best(tuning, pifs=True, bursts=False, equal=False), pair, 0.03)


def test_pifs_with_txop_beats_pifs_without_and_is_among_the_best(tuning):
    # PIFS access with TXOPs is the best setting in the paper.
    # Here it is as good as the best setting, within 0.5 %.
    both = best(tuning, pifs=True, bursts=True, equal=False)
    assert_beats(both, best(tuning, pifs=True, bursts=False, equal=False), 0.05)
    goodputs = [sum(trial.samples["goodput_bps"]) / 5 for trial in (both, tuning.confirmed[0])]
    assert goodputs[0] == pytest.approx(goodputs[1], rel=0.005)


def test_model_is_near_the_simulation_where_it_should_be(tuning):
    # The model is within 1 % for the present setting, CWmin 31.
    # It is within 2.5 % for PIFS access with CWmin 63 of the stations.
    for trial, tolerance in (
        (tuning.present, 0.01),
        (best(tuning, pifs=True, bursts=False, equal=False), 0.025),
    ):
        assert trial.predicted is not None
        measured = sum(trial.samples["goodput_bps"]) / 5
        assert trial.predicted["goodput_bps"] == pytest.approx(measured, rel=tolerance)
