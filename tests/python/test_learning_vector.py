"""A vector environment does what its sub-environments do alone, in one call."""

import os
import signal
import threading
from typing import Any

import numpy as np
import pytest

import lasthop as lh

gymnasium: Any = pytest.importorskip("gymnasium")

from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv  # noqa: E402

from lasthop.learning import AccessEnv, AccessVectorEnv, goodput, goodputs  # noqa: E402

from .test_learning import CELL  # noqa: E402

COLLIDING: dict[str, Any] = {
    "duration": "3 s",
    "warmup": "0 s",
    "cell": {"phy": "802.11b"},
    "station": {"a": {"upload": 2}, "b": {"count": 2, "download": 1}},
}


def assert_same_infos(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert ours["_time_s"].tolist() == theirs["_time_s"].tolist()
    assert ours["time_s"].tolist() == theirs["time_s"].tolist()


@pytest.mark.parametrize("jobs", [1, 2, 5])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("scenario", [CELL, COLLIDING])
def test_each_sub_environment_equals_an_environment_alone(
    scenario: dict[str, Any], mode: AutoresetMode, jobs: int
) -> None:
    path, choices = "cell.cwmin", (0, 15, 255)

    def alone() -> AccessEnv:
        return AccessEnv(scenario, path=path, choices=choices, interval_s=0.75)

    ours = AccessVectorEnv(
        3,
        scenario,
        path=path,
        choices=choices,
        interval_s=0.75,
        autoreset_mode=mode,
        jobs=jobs,
    )
    theirs = SyncVectorEnv([alone] * 3, autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] is mode
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.single_action_space == theirs.single_action_space
    draws = np.random.default_rng(3)
    seen, infos = ours.reset(seed=7)
    expected, known = theirs.reset(seed=7)
    assert seen.tobytes() == expected.tobytes()
    assert_same_infos(infos, known)
    ends = 0
    for _ in range(12):
        actions = draws.integers(0, 3, 3)
        seen, rewards, terminations, truncations, infos = ours.step(actions)
        expected, *results, known = theirs.step(actions)
        assert seen.dtype == np.float32
        assert seen.tobytes() == expected.tobytes()
        assert_same_infos(infos, known)
        for own, other in zip((rewards, terminations, truncations), results, strict=True):
            assert own.dtype == other.dtype
            assert own.tobytes() == other.tobytes()
        ends += int(truncations.sum())
        assert ("final_obs" in infos) == ("final_obs" in known)
        if "final_obs" in infos:
            assert infos["_final_obs"].tolist() == known["_final_obs"].tolist()
            for own, other in zip(infos["final_obs"], known["final_obs"], strict=True):
                assert own.tobytes() == other.tobytes()
            final = infos["final_info"], known["final_info"]
            assert_same_infos(*final)
    assert ends >= 3
    ours.close()
    theirs.close()


def test_seeds_repeat_all_episodes_and_may_be_given_for_each() -> None:
    envs = AccessVectorEnv(2, COLLIDING, interval_s=3)

    def episodes(seed: Any) -> list[bytes]:
        seen = [envs.reset(seed=seed)[0].tobytes()]
        for _ in range(3):
            seen.append(envs.step(np.array([3, 3]))[0].tobytes())
        return seen

    first, more = episodes(1), episodes(None)
    assert [episodes(1), episodes(None)] == [first, more]
    assert first != more
    assert episodes([1, 2]) == first
    assert episodes([2, 1]) != first


def test_without_autoreset_ended_sub_environments_are_reset_by_a_mask() -> None:
    envs = AccessVectorEnv(3, COLLIDING, interval_s=1.5, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=1)
    actions = np.array([3, 4, 5])
    before, *_ = envs.step(actions)
    mask = np.array([False, True, False])
    after, infos = envs.reset(options={"reset_mask": mask})
    assert after[[0, 2]].tobytes() == before[[0, 2]].tobytes()
    assert infos["_time_s"].tolist() == mask.tolist()
    *_, truncations, infos = envs.step(actions)
    assert truncations.tolist() == [True, False, True]
    assert infos["time_s"].tolist() == [3.0, 1.5, 3.0]
    with pytest.raises(lh.UserError, match="the episode is over in sub-environments 0, 2"):
        envs.step(actions)
    envs.reset(options={"reset_mask": truncations})
    *_, truncations, _ = envs.step(actions)
    assert truncations.tolist() == [False, True, False]


def test_rewards_and_infos_are_arrays_of_quantities() -> None:
    quantities = ["stations.goodput_bps", "queues.occupancy_packets"]
    envs = AccessVectorEnv(2, COLLIDING, reward=goodputs, quantities=quantities)
    envs.reset(seed=5)
    actions = np.array([3, 7])
    *_, infos = envs.step(actions)
    observations, rewards, *_, infos = envs.step(actions)
    assert rewards.tolist() == (infos["cells.goodput_bps"] / 1e6).tolist()
    assert envs.item_names["stations.goodput_bps"] == ("a", "b-1", "b-2")
    assert infos["stations.goodput_bps"].shape == (2, 3)
    mega = (infos["stations.goodput_bps"] / 1e6).astype(np.float32)
    assert mega.tobytes() == np.ascontiguousarray(observations[:, :3]).tobytes()
    assert infos["_stations.goodput_bps"].all()
    alone = AccessEnv(COLLIDING, reward=goodput)
    alone.reset(seed=6)
    alone.step(np.int64(7))
    _, reward, *_ = alone.step(np.int64(7))
    assert reward == rewards[1]


def test_the_interface_is_that_of_gymnasium() -> None:
    envs = AccessVectorEnv(4, CELL)
    assert isinstance(envs, VectorEnv)
    assert (envs.num_envs, envs.unwrapped) == (4, envs)
    assert repr(envs) == "AccessVectorEnv(num_envs=4)"
    observations, infos = envs.reset(seed=2)
    assert envs.observation_space.contains(observations)
    assert isinstance(infos, dict)
    kept = observations.copy()
    envs.action_space.seed(1)
    after, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())
    assert envs.observation_space.contains(after)
    assert (observations == kept).all(), "returned arrays do not change later"
    assert [own.shape for own in (rewards, terminations, truncations)] == [(4,)] * 3
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(AccessVectorEnv(2, COLLIDING))
    wrapped.reset(seed=1)
    for _ in range(3):
        *_, truncations, infos = wrapped.step(np.array([5, 5]))
    assert truncations.all()
    assert infos["episode"]["l"].tolist() == [3, 3]
    envs.close()
    assert envs.closed
    with pytest.raises(lh.UserError, match="sessions: they are closed"):
        envs.step(np.zeros(4, int))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"num_envs": 0}, "num_envs=0: must be a whole number from 1"),
    ({"autoreset_mode": "never"}, "autoreset_mode='never': expected one of AutoresetMode.NEXT"),
    ({"quantities": ["cells.jian"]}, 'no quantity "jian"'),
    ({"quantities": ["jain"]}, "quantities: jain: the list is missing"),
    ({"quantities": ["flows.rtt_p95_s"]}, "flows.rtt_p95_s has no value during a run"),
    ({"quantities": ["classes.jain"]}, "classes.jain has no value during a run"),
    ({"choices": ()}, "choices: must have at least one value"),
    ({"interval_s": 60}, "interval_s=60: expected a time up to 5 s"),
    ({"jobs": 0}, "jobs=0"),
    ({"path": "tcp.window", "choices": (3, 7)}, "cannot be set during a simulation"),
    ({"choices": (3, 99999)}, "99999 is too large"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_invalid_arguments_are_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(lh.UserError, match=message) as caught:
        AccessVectorEnv(**{"num_envs": 2, "scenario": CELL} | options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([1], r"actions: shape \(1,\); expected \(2,\)"),
        ([[1, 1]], r"actions: shape \(1, 2\); expected \(2,\)"),
        ([1, 11], "action 11: expected a whole number from 0 to 10, which stand for cell.cwmin"),
        ([-1, 0], "action -1: expected"),
        ([0.5, 1.0], "action 0.5: expected"),
    ],
)
def test_invalid_actions_are_refused(actions: Any, message: str) -> None:
    envs = AccessVectorEnv(2, COLLIDING)
    with pytest.raises(lh.UserError, match="no episode is running"):
        envs.step(np.array([0, 0]))
    envs.reset(seed=1)
    with pytest.raises(lh.UserError, match=message):
        envs.step(np.array(actions))
    *_, infos = envs.step(np.array([0, 0]))
    assert infos["time_s"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("mask", [[True], [0, 1], [False, False]])
def test_invalid_masks_and_seeds_are_refused(mask: Any) -> None:
    envs = AccessVectorEnv(2, COLLIDING)
    with pytest.raises(lh.UserError, match="reset_mask must be an array of 2 booleans"):
        envs.reset(options={"reset_mask": np.array(mask)})
    with pytest.raises(lh.UserError, match="seed: 3 seeds; expected 2"):
        envs.reset(seed=[1, 2, 3])
    with pytest.raises(lh.UserError, match="no episode is running"):
        envs.reset(options={"reset_mask": np.array([True, False])})


def test_a_reward_of_the_wrong_shape_is_refused() -> None:
    envs = AccessVectorEnv(2, COLLIDING, reward=lambda infos: np.zeros(3))
    envs.reset(seed=1)
    with pytest.raises(lh.UserError, match=r"reward: returned an array of shape \(3,\); expected"):
        envs.step(np.array([0, 0]))


def test_ctrl_c_ends_a_step_and_reset_begins_again() -> None:
    endless = COLLIDING | {"duration": "100000 s", "warmup": "1 s"}
    envs = AccessVectorEnv(2, endless, interval_s=90_000, choices=(15,), reward=goodputs)
    first, _ = envs.reset(seed=1)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        envs.step(np.array([0, 0]))
    with pytest.raises(lh.UserError, match="no episode is running; call reset"):
        envs.step(np.array([0, 0]))
    again, _ = envs.reset(seed=1)
    assert again.tobytes() == first.tobytes()
    envs.close()


@pytest.mark.parametrize("text", ["SAME_STEP", "AutoresetMode.SAME_STEP", "SameStep"])
def test_a_mode_may_be_text(text: str) -> None:
    envs = AccessVectorEnv(1, COLLIDING, autoreset_mode=text)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
