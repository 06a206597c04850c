import json
import pickle
import re
import tomllib
from functools import cache
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import lasthop as lh
from lasthop.errors import Problem
from lasthop.scenario.scenario import as_setting

from .conftest import EXAMPLES, SMALL


def test_file_text_and_mapping_give_the_same_scenario(small: Path) -> None:
    tree = {
        "name": "two downloaders",
        "duration": "4 s",
        "warmup": "1 s",
        "replications": 3,
        "cell": {"phy": "802.11b"},
        "station": {"near": {"download": 1}, "far": {"rate": "2 Mbps", "upload": 2}},
    }
    assert lh.Scenario(small) == lh.Scenario(str(small)) == lh.Scenario(SMALL)
    assert lh.Scenario(tree) == lh.Scenario(json.dumps(tree)) == lh.Scenario(SMALL)


def test_a_scenario_without_a_name_is_named_after_its_file(tmp_path: Path) -> None:
    unnamed = SMALL.replace('name = "two downloaders"', "")
    (tmp_path / "lobby.toml").write_text(unnamed)
    assert lh.Scenario(tmp_path / "lobby.toml")["name"] == "lobby"
    assert lh.Scenario(unnamed)["name"] == "scenario"


def test_a_pickled_scenario_is_the_same_scenario(small: Path) -> None:
    scenario = lh.Scenario(small, {"seed": 7})
    first = pickle.loads(pickle.dumps(scenario))
    small.unlink()  # The scenario has read the text and no longer needs the file.
    again = pickle.loads(pickle.dumps(first))
    for restored in (first, again):
        assert restored == scenario
        assert (restored.content, restored.source, restored.settings) == (
            scenario.content,
            scenario.source,
            scenario.settings,
        )
    assert lh.simulate(again).to_json() == lh.simulate(scenario).to_json()


def test_view_has_every_default_and_cannot_be_changed() -> None:
    scenario = lh.Scenario(SMALL)
    assert scenario["cell"]["slot_s"] == 20e-6
    assert [station["name"] for station in scenario["stations"]] == ["near", "far"]
    with pytest.raises(TypeError):
        scenario["cell"]["slot_s"] = 9e-6
    scenario.to_dict()["cell"]["slot_s"] = 9e-6
    assert scenario["cell"]["slot_s"] == 20e-6


def test_a_path_leads_into_tables_and_lists() -> None:
    scenario = lh.Scenario(SMALL)
    assert scenario["cell.ap.cwmin"] == scenario["cell"]["ap"]["cwmin"] == 31
    assert scenario["stations.far.rate_bps"] == scenario["stations.1.rate_bps"] == 2e6
    assert scenario["flows.near/down/1.tcp.mss_bytes"] == scenario["flows"][0]["tcp"]["mss_bytes"]
    assert "cell.ap.cwmin" in scenario
    assert scenario["duration"] == scenario["duration_s"] == 4.0
    assert scenario["cell.slot"] == scenario["cell"]["slot_s"]
    assert scenario["stations.far.rate"] == 2e6
    assert scenario["flows.0.tcp.window"] == scenario["flows"][0]["tcp"]["window_packets"]
    assert "duration" in scenario
    assert "durations" not in scenario
    assert scenario.get("cell.ap.cwmim", 3) == 3
    assert [*scenario] == [*scenario.to_dict()]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("duratoin", "there is no `duratoin`; there is `duration_s`"),
        ("cell.ap.cwmni", "there is `cell.ap.cwmin`, "),
        ("station.far.rate", "there is `stations.far.rate_bps`"),
        (
            "stations.near.attempts",
            "there is `stations.near.attempts_long`, `stations.near.attempts_s",
        ),
        ("cell.ap_queue", "`cell.ap.queue`"),
        ("tcp.window", ".tcp.window_packets`"),
        ("zzz", "there is `name`, `duration_s`, `warmup_s` and "),
        ("cell.ap.cwmin.x", "`cell.ap.cwmin`"),
        ("", "there is no ``; there is `name`"),
        (3, "3 is no path; expected names joined by dots"),
    ],
)
def test_a_missing_key_names_similar_keys(path: str, words: str) -> None:
    with pytest.raises(KeyError) as caught:
        lh.Scenario(SMALL)[path]
    text = str(caught.value)
    assert words in text
    assert "\n" not in text
    assert text == str(pickle.loads(pickle.dumps(caught.value)).args[0])


def test_a_key_of_the_file_names_its_normalised_key_only() -> None:
    many = SMALL.replace("[station.near]", "[station.near]\ncount = 2")
    scenario = lh.Scenario(many)
    for path, meant in (
        ("station.far.rate", "stations.far.rate_bps"),
        ("station.near.rate", "stations.near-1.rate_bps"),
    ):
        with pytest.raises(KeyError) as caught:
            scenario[path]
        assert str(caught.value) == f"there is no `{path}`; there is `{meant}`"


def test_with_gives_a_checked_copy() -> None:
    scenario = lh.Scenario(SMALL)
    changed = scenario.with_("cell.ap.cwmin", 15).with_("station.near.rate", "1 Mbps")
    assert changed["cell"]["ap"]["cwmin"] == 15
    assert changed["stations"][0]["rate_bps"] == 1_000_000
    assert scenario["cell"]["ap"]["cwmin"] == 31
    with pytest.raises(lh.ScenarioError, match=r"cell\.ap\.cwmin"):
        scenario.with_("cell.ap.cwmin", -1)


def test_the_key_depends_on_the_meaning_and_not_on_the_text() -> None:
    scenario = lh.Scenario(SMALL)
    assert lh.Scenario("# a comment\n" + SMALL).key == scenario.key
    assert scenario.with_("replications", 3).key == scenario.key
    assert scenario.with_("seed", 2).key != scenario.key


def test_every_problem_is_reported_with_its_line() -> None:
    text = SMALL.replace("upload = 2", "uplaod = 2").replace("2 Mbps", "-2 Mbps")
    with pytest.raises(lh.ScenarioError) as caught:
        lh.Scenario(text)
    by_path = {problem.path: problem for problem in caught.value.problems}
    assert by_path["station.far.rate"].line == 11
    assert by_path["station.far.uplaod"].line == 12
    assert by_path["station.far.uplaod"].hint == "did you mean `upload`?"
    assert str(caught.value).splitlines() == [str(problem) for problem in caught.value.problems]


def test_error_survives_pickling() -> None:
    error = lh.ScenarioError([Problem("a.toml", 3, "x", "bad", None)])
    assert str(pickle.loads(pickle.dumps(error))) == "a.toml:3: `x`: bad"


def test_mapping_has_no_lines() -> None:
    with pytest.raises(lh.ScenarioError) as caught:
        lh.Scenario({"duration": "1 s", "cell": {"phy": "802.11z"}})
    assert all(problem.line is None for problem in caught.value.problems)
    assert str(caught.value).startswith("<dict>: `")


def test_every_fault_that_a_user_can_fix_is_a_user_error() -> None:
    for error in (lh.ScenarioError, lh.ModelError, lh.ConvergenceError):
        assert issubclass(error, lh.UserError)
    with pytest.raises(lh.UserError, match="replications=0: `replications`"):
        lh.simulate(SMALL, replications=0)
    with pytest.raises(lh.UserError, match="name is empty"):
        lh.check("")


@cache
def validator() -> jsonschema.Draft202012Validator:
    """Return a validator of the schema. It is cached, because building it takes longer than
    validating an example.
    """
    jsonschema.Draft202012Validator.check_schema(lh.schema())
    return jsonschema.Draft202012Validator(lh.schema())


EXAMPLE_FILES = sorted([*EXAMPLES.glob("*.toml"), *EXAMPLES.glob("access-points/*.toml")])


@pytest.mark.parametrize("example", EXAMPLE_FILES, ids=lambda path: path.name)
def test_examples_satisfy_the_schema(example: Path) -> None:
    validator().validate(tomllib.loads(example.read_text()))
    assert lh.check(example)["name"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.float64("nan")])
def test_an_invalid_number_is_refused_with_its_key(value: float) -> None:
    tree = {"duration": "4 s", "cell": {"phy": "802.11b"}, "station": {"a": {"error": value}}}
    with pytest.raises(lh.ScenarioError, match=r"`station\.a\.error`: \"(nan|inf)\""):
        lh.check(tree)
    with pytest.raises(lh.ScenarioError, match=r"`station\.far\.error`"):
        lh.Scenario(SMALL).with_("station.far.error", value)


def test_numbers_of_numpy_are_numbers() -> None:
    assert lh.Scenario(SMALL).with_("seed", np.int64(7))["seed"] == 7
    tree = {"duration": "4 s", "cell": {"phy": "802.11b"}, "station": {"a": {"upload": np.int8(2)}}}
    assert len(lh.check(tree)["flows"]) == 2


def test_tables_are_set_as_toml_writes_them() -> None:
    table = {"a b": [1, 2.5, True], "c": {"d-e": '5 "ms"', "f": "é"}}
    assert as_setting(table) == r'{"a b" = [1, 2.5, true], c = {d-e = "5 \"ms\"", f = "é"}}'
    assert tomllib.loads("x = " + as_setting(table)) == {"x": table}
    router = 'duration = "1 s"\ndumbbell = { flows = 1, bottleneck = "9 Mbps", rtt = "5 ms" }\n'
    red = lh.Scenario(router).with_("queue", {"red": {"min_th": 5, "max_th": 15}})
    assert red["links"][0]["queue"]["max_th_packets"] == 15
    with pytest.raises(lh.ScenarioError, match="cannot be read as a table"):
        red.with_("queue", {"red": None})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"duration": "9 s"}]', "a list is not a table; expected a scenario with"),
        ("[1, 2]", "a list is not a table"),
        ('"hello"', '"hello" is not a table'),
        ('[{"duration": "9 s"},', "not valid JSON"),
        ("[station.a]", "`duration`: missing"),
        ("[station.a", "not valid TOML"),
        ("[" * 100_000, "not valid TOML"),
    ],
)
def test_invalid_content_is_named_by_its_kind(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "scenario"
    file.write_text(text)
    with pytest.raises(lh.ScenarioError, match=re.escape(message)) as refused:
        lh.Scenario(file)
    assert "TOML" in message or "TOML" not in str(refused.value)
