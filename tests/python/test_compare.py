import json
from pathlib import Path

import pytest

import lasthop as lh

from .conftest import SMALL, Lasthop

UDP = """\
duration = "2 s"
cell = { phy = "802.11b" }
[station.a]
udp_up = "1 Mbps"
"""


@pytest.fixture(scope="module")
def comparison() -> lh.Comparison:
    return lh.compare(SMALL)


def test_rows_join_prediction_and_simulation_by_name(comparison: lh.Comparison) -> None:
    rows = {(row.list, row.name, row.quantity): row for row in comparison.rows}
    share = rows["stations", "near", "goodput_share"]
    assert comparison.prediction is not None
    assert share.predicted == comparison.prediction.stations.loc["near", "goodput_share"]
    assert share.simulated == comparison.simulation.stations.loc["near", "goodput_share"]
    assert share.difference == share.simulated - share.predicted


def test_quantities_that_the_model_lacks_are_absent(comparison: lh.Comparison) -> None:
    goodputs = [row for row in comparison.rows if row.quantity == "goodput_bps"]
    assert goodputs
    assert all(row.predicted is None and row.difference is None for row in goodputs)


def test_table_and_json_have_the_same_rows(comparison: lh.Comparison) -> None:
    assert len(comparison.table) == len(comparison.rows)
    assert len(json.loads(comparison.to_json())["rows"]) == len(comparison.rows)


def test_a_refused_scenario_is_still_simulated() -> None:
    comparison = lh.compare(UDP, replications=2)
    assert comparison.prediction is None
    assert comparison.refusal is not None
    assert "assumption" in comparison.refusal
    quantities = {row.quantity for row in comparison.rows}
    assert {"goodput_share", "goodput_bps"} <= quantities
    assert "fairness_level" not in quantities  # the demand of the flow is met
    assert comparison.simulation.replications == 2


def test_options_reach_the_model(comparison: lh.Comparison) -> None:
    other = lh.compare(SMALL, options={"beta": 2})
    assert comparison.prediction is not None
    assert other.prediction is not None
    assert other.prediction.summary["options"] == {"beta": 2.0}
    assert comparison.prediction.summary["options"] == {"beta": None}
    with pytest.raises(lh.UserError, match='option "bta": unknown'):
        lh.compare(SMALL, options={"bta": 2})


def test_the_figure_is_written_completely(comparison: lh.Comparison, tmp_path: Path) -> None:
    comparison.save_figure(tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["x.png"]


def test_picture_of_an_unknown_kind_is_refused(comparison: lh.Comparison, tmp_path: Path) -> None:
    with pytest.raises(lh.UserError, match="not a picture"):
        comparison.save_figure(tmp_path / "x")


def test_prediction_has_no_columns_of_intervals(comparison: lh.Comparison) -> None:
    assert comparison.prediction is not None
    columns = comparison.prediction.stations.columns
    assert "goodput_share" in columns
    assert not any(column.endswith("_ci95") for column in columns)


def test_an_unknown_model_is_refused_with_the_known_models() -> None:
    with pytest.raises(lh.UserError, match=r'model "crystal-ball": expected one of .*hotspot'):
        lh.compare(SMALL, model="crystal-ball")


def test_losses_that_the_model_predicts_for_a_cell_are_printed(
    lasthop: Lasthop, tmp_path: Path
) -> None:
    """`lasthop predict` prints the loss of each download, and so does `compare`. Uploads lose
    nothing, so that they have no row.
    """
    (tmp_path / "cell.toml").write_text(
        'duration = "5 s"\nwarmup = "1 s"\nreplications = 2\n'
        '[cell]\nphy = "802.11b"\nap_queue = 20\n'
        "[station.up]\nupload = 2\n[station.down]\ndownload = 2\n"
    )
    done = lasthop("compare", str(tmp_path / "cell.toml"))
    lines = done.stdout.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("loss [%]"))
    assert "down/down/1" in lines[first]
    assert "down/down/2" in lines[first + 1]
    assert "up/up/1" not in done.stdout
    page = lh.compare(tmp_path / "cell.toml")._repr_html_()
    assert page.count("down/down/1") == 1
    assert "up/up/1" not in page


def test_the_warning_of_newreno_names_the_key_and_its_default() -> None:
    [warning] = [each for each in lh.predict(SMALL).warnings if "NewReno" in each]
    assert warning.startswith(
        "`tcp.congestion` is newreno, the default in cells of 802.11a, b and g: NewReno has fewer "
        "timeouts than the Reno of the model"
    )
    reno = lh.predict(SMALL, settings={"tcp.congestion": "reno"})
    assert not [each for each in reno.warnings if "NewReno" in each]
