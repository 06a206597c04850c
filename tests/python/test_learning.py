"""A simulation as an environment of Gymnasium, the interface for reinforcement learning."""

import importlib
import runpy
import sys
from typing import Any

import numpy as np
import pytest

import lasthop as lh

from .conftest import EXAMPLES

checker: Any = pytest.importorskip("gymnasium.utils.env_checker")

from lasthop.learning import AccessEnv, goodput  # noqa: E402

CELL = {
    "duration": "6 s",
    "warmup": "1 s",
    "cell": {"phy": "802.11n"},
    "station": {"sender": {"count": 5, "udp_up": "greedy"}, "idle": {"udp_up": "64 kbps"}},
}


def test_the_environment_passes_the_check_of_gymnasium() -> None:
    checker.check_env(AccessEnv(CELL), skip_render_check=True)


def episode(env: AccessEnv, seed: int | None) -> list[tuple[float, list[float]]]:
    seen = [(0.0, list(env.reset(seed=seed)[0]))]
    truncated = False
    while not truncated:
        choice = np.int64(len(seen) % len(env.choices))
        observation, reward, terminated, truncated, _ = env.step(choice)
        assert not terminated
        seen.append((reward, list(observation)))
    return seen


def test_a_seed_repeats_its_episodes_and_each_episode_has_its_own_streams() -> None:
    env = AccessEnv(CELL, interval_s=0.75)
    first, second = episode(env, 3), episode(env, None)
    assert len(first) == 1 + 7
    assert first != second
    assert [episode(env, 3), episode(env, None)] == [first, second]
    assert episode(env, 4) != first


def test_a_seed_is_a_whole_number_of_any_type() -> None:
    env = AccessEnv(CELL)
    assert env.reset(seed=np.int64(3))[0].tobytes() == env.reset(seed=3)[0].tobytes()  # type: ignore[arg-type]
    for seed in (True, -1, 1.5):
        with pytest.raises(lh.UserError, match=f"^seed={seed}: expected a whole number from 0"):
            env.reset(seed=seed)  # type: ignore[arg-type]


def test_an_action_sets_its_choice() -> None:
    env = AccessEnv(CELL, path="station.sender.cwmin", choices=(0, 1023), reward=goodput)
    env.reset(seed=1)
    *_, info = env.step(np.int64(1))
    assert env.session is not None
    assert env.session.changes == [(1.0, "station.sender.cwmin", "1023")]
    *_, after = env.step(np.int64(0))
    calm, wild = info["reading"]["stations"][0], after["reading"]["stations"][0]
    assert calm["collision_rate"] < 0.2 < wild["collision_rate"]


def test_an_unsuitable_scenario_is_refused() -> None:
    wired = {"duration": "6 s", "dumbbell": {"flows": 2, "bottleneck": "1 Mbps", "rtt": "20 ms"}}
    with pytest.raises(lh.UserError, match="has no cell"):
        AccessEnv(wired)
    with pytest.raises(lh.UserError, match="interval_s=6: expected a time from 1e-06 s to 5 s"):
        AccessEnv(CELL, interval_s=6)
    with pytest.raises(lh.ScenarioError, match="99999 is too large"):
        AccessEnv(CELL, choices=(3, 99999))
    with pytest.raises(lh.UserError, match="choices: must have at least one value"):
        AccessEnv(CELL, choices=())
    with pytest.raises(lh.UserError, match="interval_s='soon': expected a number of seconds"):
        AccessEnv(CELL, interval_s="soon")
    assert AccessEnv(CELL, interval_s="500 ms").interval_s == 0.5
    env = AccessEnv(CELL)
    with pytest.raises(lh.UserError, match="no episode is running"):
        env.step(np.int64(0))


def test_a_setting_that_cannot_change_during_a_run_is_refused_immediately() -> None:
    for path, choices in (("tcp.window", (3, 7)), ("station.idle.count", (1, 2))):
        with pytest.raises(
            lh.UserError, match=f"`{path}`: . cannot be set during a simulation"
        ) as caught:
            AccessEnv(CELL, path=path, choices=choices)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("action", [11, -1, 1.0])
def test_an_invalid_action_is_refused_with_the_valid_actions(action: float) -> None:
    env = AccessEnv(CELL)
    env.reset(seed=1)
    line = rf"action={action}: expected a whole number from 0 to 10, .* = 0, 1, 3, 7, .*, 1023$"
    with pytest.raises(lh.UserError, match=line):
        env.step(action)  # type: ignore[arg-type]
    assert env.session is not None
    assert env.session.now_s == 1.0


def test_the_bandit_learns_the_optimum_of_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    example = EXAMPLES / "learn.py"
    runpy.run_path(str(example), run_name="__main__")
    printed = capsys.readouterr().out
    assert "learned: 255; the model's best: 255" in printed
    assert printed == example.with_suffix(".txt").read_text("utf-8")
    assert printed in (EXAMPLES.parent / "docs/guide/stepping.md").read_text("utf-8")


def test_without_gymnasium_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "lasthop.learning")
    monkeypatch.setattr("lasthop.extras.find_spec", lambda name: None)
    with pytest.raises(lh.UserError, match=r"lasthop\.learning: package gymnasium") as caught:
        importlib.import_module("lasthop.learning")
    assert caught.value.hint == 'run `pip install "lasthop[learn]"`'
