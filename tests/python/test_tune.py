import json
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib.collections import LineCollection

import lasthop as lh
from lasthop import _core
from lasthop.tuning.categories import category_asked
from lasthop.tuning.measures import estimated
from lasthop.tuning.search import TuneProgress
from lasthop.tuning.tune import TuneInterrupted

from .conftest import SMALL, Lasthop
from .tune_scenarios import CALLS, DOWNLOADS, VOICE, VOICE_DELAY


@pytest.fixture(scope="module")
def tuning() -> lh.Tuning:
    return lh.tune(DOWNLOADS, confirm=6)


def test_choice_beats_the_present_setting(tuning: lh.Tuning) -> None:
    assert tuning.recommended
    assert tuning.verdict == f"set {tuning.chosen.name}"
    gain = tuning.gains["goodput_bps"]
    assert gain.ci95 is not None
    assert gain.mean > gain.ci95
    alone = lh.simulate(DOWNLOADS, settings=tuning.settings)
    row = tuning.table.loc[tuning.chosen.name]
    assert alone.cells.goodput_bps.iloc[0] == pytest.approx(row.goodput_bps)
    assert alone.scenario == tuning.scenario == tuning.chosen.scenario
    assert tuning.table.chosen.sum() == 1


def test_gains_come_from_seeds_that_had_no_part_in_the_choice(tuning: lh.Tuning) -> None:
    [check] = tuning.checks
    assert check.trial is tuning.chosen
    assert check.improves
    assert check.change == tuning.gains["goodput_bps"]
    fresh = {"seed": 2, "replications": 5}
    now, then = (
        lh.simulate(DOWNLOADS, settings=fresh | settings).cells.goodput_bps.iloc[0]
        for settings in ({}, tuning.settings)
    )
    assert tuning.gains["goodput_bps"].mean == pytest.approx(then - now)


def test_the_present_setting_is_not_a_candidate(tuning: lh.Tuning) -> None:
    assert [trial.name for trial in tuning.trials if trial.scenario == tuning.base] == ["as it is"]


def test_every_family_is_confirmed(tuning: lh.Tuning) -> None:
    confirmed = {trial.candidate.family for trial in tuning.confirmed if trial.candidate}
    screened = {t.candidate.family for t in tuning.trials if t.candidate and t.screened}
    assert confirmed == screened
    assert len(tuning.confirmed) == 1 + 6


@pytest.mark.slow
def test_the_choice_does_not_depend_on_threads(tuning: lh.Tuning) -> None:
    assert lh.tune(DOWNLOADS, confirm=6, jobs=3).to_json() == tuning.to_json()


def test_refused_scenario_is_searched_by_simulation_and_says_so() -> None:
    tuning = lh.tune(SMALL, replications=2, pifs=False, txop=False, confirm=2)
    assert "delays its ACKs" in (tuning.refusal or "")
    assert all(trial.predicted is None for trial in tuning.trials)
    assert all(trial.screened is not None for trial in tuning.trials)
    names = [trial.name for trial in tuning.trials[1:]]
    assert not any("PIFS" in name or "TXOP" in name for name in names)


def test_fairness_is_searched_by_simulation() -> None:
    tuning = lh.tune(DOWNLOADS, "fairness", replications=2, pifs=False, txop=False, confirm=2)
    assert "predicts equal shares" in (tuning.refusal or "")
    assert all(trial.predicted is None for trial in tuning.trials)


def stop_at(stage: str, done: int) -> Callable[[TuneProgress], bool]:
    return lambda at: not (at["stage"] == stage and at["done"] >= done)


@pytest.mark.slow
def test_a_stopped_search_keeps_its_findings_and_recommends_nothing() -> None:
    with pytest.raises(lh.Stopped, match=r"[2-9] confirmed") as caught:
        lh.tune(DOWNLOADS, progress=stop_at("confirming", 2))
    finished = caught.value.finished
    assert 2 <= len(finished.confirmed) < 10
    assert (finished.chosen, finished.hostapd) == (finished.present, "")
    assert finished.reason == "the search ended before a setting was checked"


def test_a_first_number_comes_with_the_first_prediction() -> None:
    """While a search runs, its progress contains the best goodput so far. The first goodput is the
    prediction for the present setting. Until simulations begin, each later goodput is not lower.
    """
    seen: list[TuneProgress] = []

    def look(at: TuneProgress) -> bool:
        seen.append(at)
        return not (at["stage"] == "screening" and at["candidates"] > 1)

    with pytest.raises(lh.Stopped) as caught:
        lh.tune(DOWNLOADS, progress=look, txop=False)
    present = caught.value.finished.trials[0]
    assert present.predicted is not None
    first = f"{present.predicted['goodput_bps'] * 1e-6:.3f} Mb/s"
    assert [at["so_far"] for at in seen[:2]] == ["", first]
    of_pairs = [at["so_far"] for at in seen if at["stage"] == "predicting" and at["candidates"] > 1]
    rates = [float(text.removesuffix(" Mb/s")) for text in of_pairs]
    assert of_pairs[0] == first
    assert rates == sorted(rates)
    assert rates[-1] > rates[0]


def test_ctrl_c_in_a_search_keeps_its_findings() -> None:
    def press(at: TuneProgress) -> None:
        if at["stage"] == "screening":
            raise KeyboardInterrupt

    with pytest.raises(TuneInterrupted, match="0 confirmed") as caught:
        lh.tune(DOWNLOADS, progress=press)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert caught.value.finished.settings == {}


def test_search_stopped_early_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(lh.Stopped, match="0 confirmed") as caught:
        lh.tune(DOWNLOADS, progress=stop_at("predicting", 3))
    finished = caught.value.finished
    assert finished.settings == {}
    assert finished.scenario == finished.base
    assert {path.name for path in finished.save(tmp_path)} == {
        "tuning.json",
        "tuning.parquet",
        "tuning.csv",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"objective": "fame"}, 'objective="fame": expected one of'),
        ({"give_up": 1.0}, "give_up=1.0: must be a fraction from 0"),
        ({"give_up": "5 %"}, "give_up='5 %': must be a fraction from 0"),
        ({"min_jain": 1.1}, "min_jain=1.1: must be a Jain's index from 0 to 1"),
        ({"confirm": 0}, "confirm=0: must be a whole number"),
        ({"confirm": 2.5}, "confirm=2.5: must be a whole number"),
        ({"jobs": 2.5}, "jobs=2.5: must be a whole number"),
        ({"category": "vocie"}, 'category="vocie": no flow uses this category'),
        ({"jobs": 0}, "jobs=0: must be a whole number"),
    ],
)
def test_impossible_wishes_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(lh.UserError, match=message):
        lh.tune(DOWNLOADS, **arguments)  # type: ignore[arg-type]


@pytest.mark.usefixtures("blank")
def test_command_prints_what_to_set(lasthop: Lasthop, tmp_path: Path) -> None:
    path = tmp_path / "three.toml"
    path.write_text(DOWNLOADS)
    done = lasthop(
        "tune",
        path,
        "--for",
        "throughput",
        "--confirm",
        "1",
        "--no-txop",
        "--no-pifs",
        "--out",
        "out",
    )
    assert done.returncode == 0, done.stderr
    assert "ranked by model edca" in done.stdout
    assert "\n[cell" in done.stdout
    assert "--set cell." in done.stdout
    assert (tmp_path / "home" / "out" / "tuning.png").read_bytes().startswith(b"\x89PNG")


def test_json_is_one_object_with_the_choice(lasthop: Lasthop, tmp_path: Path) -> None:
    path = tmp_path / "three.toml"
    path.write_text(DOWNLOADS)
    options = ("--for", "throughput", "--confirm", "1", "--no-txop", "--no-pifs")
    done = lasthop("tune", path, *options, "--json")
    tree = json.loads(done.stdout)
    assert (tree["kind"], tree["objective"]) == ("tuning", "throughput")
    chosen = tree["chosen"]
    assert chosen["name"] in [each["name"] for each in tree["candidates"]]
    assert chosen["simulated"]["goodput_bps"]["ci95"] is not None
    assert tree["recommended"] is True
    assert tree["verdict"] == f"set {chosen['name']}"
    [check] = tree["checks"]
    assert check["change"] == tree["gains"]["goodput_bps"]
    assert check["change"]["mean"] > check["change"]["ci95"]
    assert (check["seed"], check["improves"], check["ruled_out"]) == (2, True, None)
    assert tomllib.loads(chosen["toml"])


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--for", "fame"), 'error: --for "fame": expected one of'),
        (("--for", "delay", "--give-up", "all"), 'error: --give-up "all": expected a percentage'),
        (
            ("--for", "delay", "--min-jain", "2"),
            'error: --min-jain "2": expected Jain\'s index from 0',
        ),
        (("--for", "delay", "--write", "wpa"), 'error: --write "wpa": expected hostapd'),
        (("--for", "delay", "--out", ""), "error: --out: the name is empty"),
        (("--for", "delay", "--seed", "-1"), "error: --seed -1: `seed`"),
        (("--for", "delay", "--set", "cell.cwmin=-1"), "`cell.cwmin`"),
    ],
)
def test_mistakes_take_one_line(
    lasthop: Lasthop, small: Path, options: tuple[str, ...], line: str
) -> None:
    done = lasthop("tune", small, *options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert line in done.stderr.splitlines()[0]
    assert len(done.stderr.splitlines()) <= 2


def test_picture_marks_the_chosen_setting(tuning: lh.Tuning) -> None:
    figure = tuning.plot()
    assert len(figure.axes) == 3
    texts = [text.get_text() for text in figure.findobj() if hasattr(text, "xycoords")]
    assert any(text.startswith(f"tuned for {tuning.objective}") for text in texts)
    bold = [label.get_text() for label in figure.axes[0].get_yticklabels() if is_bold(label)]
    assert bold == [tuning.chosen.name]


def test_ruled_out_settings_are_hollow_and_have_an_x(tuning: lh.Tuning) -> None:
    best = next(trial for trial in tuning.confirmed if trial is not tuning.chosen)
    some = copy(tuning)
    some.objection = lambda trial: "a bound" if trial is best else None  # type: ignore[method-assign]
    figure = some.plot()
    row = some.confirmed.index(best)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert [label for label in labels if label.endswith(" x")] == [f"{best.name} x"]
    assert labels[row] == f"{best.name} x"
    hollow = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "white"]
    assert [list(line.get_ydata()) for line in hollow] == [[row]] * len(hollow) != []
    [legend] = figure.legends
    assert "x ruled out" in [text.get_text() for text in legend.get_texts()]
    assert legend.get_title().get_text().startswith("rows: CWmin of AP / stations")
    page = some._repr_html_()
    assert f">{best.name} x<" in page
    assert "Jain&#x27;s 5th percentile over 1 s" in page
    [legend] = tuning.plot().legends
    assert ("x ruled out" in [text.get_text() for text in legend.get_texts()]) is any(
        tuning.objection(trial) for trial in tuning.confirmed
    )


def test_noise_of_fairness_is_not_zoomed_and_ends_at_one(tuning: lh.Tuning) -> None:
    axes = next(axes for axes in tuning.plot().axes if axes.get_title(loc="left") == "Fairness")
    low, high = axes.get_xlim()
    assert high == 1.0
    assert 0.0 <= low <= 0.95
    ends = [
        x
        for each in axes.collections
        if isinstance(each, LineCollection)
        for segment in each.get_segments()
        for x in segment[:, 0]
    ]
    assert len(ends) >= 2 * len(tuning.confirmed)
    assert max(ends) <= 1.0 + 1e-12
    assert min(ends) >= low


def test_numbers_under_a_panel_do_not_run_into_each_other(tuning: lh.Tuning) -> None:
    figure = tuning.figure()
    figure.draw_without_rendering()
    for axes in figure.axes:
        low, high = axes.get_xlim()
        boxes = [
            tick.label1.get_window_extent()
            for tick in axes.xaxis.get_major_ticks()
            if low <= tick.get_loc() <= high
        ]
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def is_bold(label: object) -> bool:
    return label.get_fontweight() == "bold"  # type: ignore[attr-defined]


def test_picture_has_a_panel_for_each_other_category() -> None:
    tuning = lh.tune(CALLS, confirm=1, pifs=False, txop=False, replications=2)
    titles = [axes.get_title(loc="left") for axes in tuning.figure().axes]
    assert titles[-1] == "Delay of category voice"
    assert len(titles) == 4


@pytest.mark.slow
def test_a_longer_delay_of_calls_is_reported(lasthop: Lasthop, tmp_path: Path) -> None:
    path = tmp_path / "calls.toml"
    path.write_text(CALLS)
    done = lasthop("tune", path, "--for", "throughput", "--confirm", "3", "--json")
    tree = json.loads(done.stdout)
    assert tree["category"] == "best-effort"
    assert tree["recommended"] is ("goodput_bps" in tree["gains"])
    if gain := tree["gains"].get(VOICE_DELAY):
        is_named = any(cost.startswith("voice delay ") for cost in tree["costs"])
        assert is_named == (gain["mean"] > gain["ci95"])
        assert gain["mean"] < 5e-3


def test_category_of_the_connections_is_tuned() -> None:
    assert category_asked(lh.Scenario(VOICE), None) == "voice"
    assert category_asked(lh.Scenario(CALLS), None) == "best-effort"
    mixed = lh.Scenario(VOICE + '[station.other]\nudp_up = { rate = "1 Mbps" }\n')
    assert category_asked(mixed, None) == "voice"
    assert category_asked(mixed, "best-effort") == "best-effort"
    tuning = lh.tune(VOICE, "delay", confirm=2, txop=False)
    assert tuning.category == "voice"
    assert tuning.settings
    assert all(path.startswith(("cell.voice.", "cell.ap.voice.")) for path in tuning.settings)
    assert tuning.gains["sojourn_s"].mean < 0.0
    # CWmin of the tuned category is at most 15, because voice has this limit.
    assert [each.what for each in tuning.left_out] == [
        "CWmin 31 to 1023 of the AP",
        "CWmin 31 to 1023 of the stations",
    ]


def test_windows_above_the_limits_of_the_file_are_named() -> None:
    shut = lh.tune(DOWNLOADS, settings={"cell.cwmin": 0, "cell.cwmax": 0})
    assert shut.chosen is shut.present
    assert [(each.what, each.why) for each in shut.left_out] == [
        ("CWmin 1 to 1023 of the AP", "above `cell.ap.cwmax` = 0"),
        ("CWmin 1 to 1023 of the stations", "above `cell.cwmax` = 0"),
    ]


def test_scenario_in_which_nothing_arrives_is_refused() -> None:
    with pytest.raises(lh.UserError, match=r"nothing is delivered in the 0\.0005 s"):
        lh.tune(DOWNLOADS, settings={"duration": "1 ms", "warmup": "0.5 ms"})


def test_scenario_without_a_cell_is_refused() -> None:
    with pytest.raises(lh.UserError, match="no station has a flow"):
        lh.tune(EXAMPLES / "dumbbell.toml")


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_settings_that_measure_the_same_are_confirmed_once() -> None:
    for_delay = lh.tune(DOWNLOADS, "delay")
    rows = [
        tuple(round(value.mean, 6) for value in estimated(trial.samples).values())
        for trial in for_delay.confirmed
    ]
    assert len(rows) == len(set(rows)) > 5


def test_bounds_also_apply_in_the_search() -> None:
    for_delay = lh.tune(DOWNLOADS, "delay", txop=False, pifs=False, confirm=2)
    # The model predicts the present setting. Short simulations also include it, for comparison.
    assert for_delay.present.screened is not None
    assert for_delay.ruled_out
    ruled_out = {name for names in for_delay.ruled_out.values() for name in names}
    assert for_delay.chosen.name not in ruled_out


def test_tuning_for_fairness_lists_the_stations_that_lose(lasthop: Lasthop) -> None:
    options = (
        "--for",
        "fairness",
        "--replications",
        "3",
        "--confirm",
        "1",
        "--no-txop",
        "--no-pifs",
    )
    done = lasthop("tune", EXAMPLES / "hotspot.toml", "--set", "duration=20 s", *options)
    paid = done.stdout.partition("\nCosts:\n")[2]
    assert "- uploads " in paid
    assert "flows lose more than half, most of all uploader/up/" in paid
    assert paid.partition("Stations with less goodput:\n")[2].startswith("- uploader ")


@pytest.mark.slow
def test_output_does_not_contradict_itself_on_the_model(lasthop: Lasthop, tmp_path: Path) -> None:
    path = tmp_path / "three.toml"
    path.write_text(DOWNLOADS)
    options = ("--for", "delay", "--confirm", "2", "--no-txop")
    done = lasthop("tune", path, *options, "--set", "cell.cwmin=0")
    assert "ranked by model edca" in done.stdout
    assert "not ranked" not in done.stdout
    assert "the model does not support the present setting" in done.stdout
    title = done.stdout.partition("predicted\n")[2].splitlines()[0]
    assert title.split() == ["AP", "AP", "Jain's"]  # the model predicts the objective only


def test_no_setting_is_chosen_that_silences_a_call() -> None:
    # With PIFS access of best effort, the access point sends bulk traffic before voice.
    # Jain's index hardly changes.
    silenced = {"cell.ap.aifsn": 1, "cell.ap.cwmin": 0, "cell.ap.cwmax": 0}
    flows = lh.simulate(CALLS, settings=silenced).flows
    assert flows.loc["phone-1/udp-down/1", "goodput_bps"] == 0
    tuned = lh.tune(CALLS, "throughput", confirm=3)
    after = lh.simulate(tuned.scenario).flows
    calls = after[after.index.str.startswith("phone")]
    assert (calls["goodput_bps"] > 6_400).all()


@pytest.mark.slow
def test_a_search_continues_from_stored_runs_with_every_executor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadPoolExecutor(2) as pool:
        first = lh.tune(SMALL, confirm=1, executor=pool, directory=tmp_path)
    simulated: list[object] = []
    real = _core.simulate
    monkeypatch.setattr(_core, "simulate", lambda *args: simulated.append(args) or real(*args))
    again = lh.tune(SMALL, confirm=1, directory=tmp_path)
    assert simulated == []
    assert again == first
    assert again.to_json() == first.to_json()
