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
    ({"num_envs": 0}, "num_envs=0: expected a whole number from 1 to 1000000"),
    ({"num_envs": True}, "num_envs=True: expected a whole number from 1"),
    ({"num_envs": 2.0}, "num_envs=2.0: expected a whole number from 1"),
    ({"autoreset_mode": "never"}, "autoreset_mode='never': expected one of AutoresetMode.NEXT"),
    ({"quantities": ["cells.jian"]}, 'no quantity "jian"'),
    ({"quantities": ["jain"]}, "quantities: jain: missing list; expected one of cells.jain, "),
    ({"quantities": ["flows.rtt_p95_s"]}, "flows.rtt_p95_s has no value during a run"),
    ({"quantities": ["classes.jain"]}, "classes.jain has no value during a run"),
    ({"choices": ()}, "choices: must have at least one value"),
    ({"interval_s": 60}, "interval_s=60: expected a time from 1e-06 s to 5 s"),
    ({"interval_s": 0}, "interval_s=0: expected a time from 1e-06 s to 5 s"),
    ({"interval_s": 1e-12}, "interval_s=1e-12: expected a time from 1e-06 s"),
    ({"interval_s": float("nan")}, "interval_s=nan: expected a time from 1e-06 s"),
    ({"choices": "37"}, "^choices='37': expected a list, such as"),
    ({"choices": None}, "^choices=None: expected a list"),
    ({"choices": 5}, "^choices=5: expected a list"),
    ({"choices": {3, 7}}, "^choices={3, 7}: expected a list"),
    ({"quantities": "cells.jain"}, "^quantities='cells.jain': expected a list, such as"),
    ({"quantities": [3]}, "^quantities: 3: expected text"),
    ({"num_envs": True}, "^num_envs=True: expected a whole number from 1 to 1000000"),
    ({"num_envs": 10**12}, "^num_envs=1000000000000: expected a whole number .* memory"),
    ({"num_envs": 10**30}, "^num_envs=10+: expected a whole number .* memory"),
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
        (np.array([1]), r"^actions=\[1\]: expected an array of shape \(2,\)"),
        (np.array([[1, 1]]), r"^actions=\[\[1, 1\]\]: expected an array of shape \(2,\)"),
        ([[1], [1, 2]], r"^actions=\[\[1\], \[1, 2\]\]: expected an array of shape \(2,\)"),
        (None, r"^actions=None: expected an array of shape \(2,\)"),
        ([1, 11], r"^actions\[1\]=11: expected a whole number from 0 to 10, .* for cell.cwmin"),
        (np.array([1, 11]), r"^actions\[1\]=11: expected"),
        (np.array([-1, 0]), r"^actions\[0\]=-1: expected"),
        (np.array([0.5, 1.0]), r"^actions\[0\]=0.5: expected"),
        ([0, np.nan], r"^actions\[1\]=nan: expected"),
        (np.array([0, np.nan]), r"^actions\[1\]=nan: expected"),
        ([0, 2**70], r"^actions\[1\]=1180591620717411303424: expected"),
        (np.array([0, "1"], object), r"^actions\[1\]='1': expected"),
        (np.array([False, True]), r"^actions\[0\]=False: expected"),
    ],
)
def test_invalid_actions_are_refused(actions: Any, message: str) -> None:
    envs = AccessVectorEnv(2, COLLIDING)
    with pytest.raises(lh.UserError, match="no episode is running"):
        envs.step(np.array([0, 0]))
    envs.reset(seed=1)
    with pytest.raises(lh.UserError, match=message):
        envs.step(actions)
    *_, infos = envs.step(np.array([0, 0]))
    assert infos["time_s"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("whole", [np.int64, np.uint8])
def test_whole_numbers_of_numpy_are_accepted(whole: type) -> None:
    envs = AccessVectorEnv(whole(2), COLLIDING, jobs=whole(1))
    expected = AccessVectorEnv(2, COLLIDING).reset(seed=3)[0]
    assert type(envs.num_envs) is int
    for seed in (whole(3), [whole(3), whole(4)], np.array([3, 4], whole)):
        assert envs.reset(seed=seed)[0].tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        (True, "^seed=True: expected a whole number from 0$"),
        (-1, "^seed=-1: expected"),
        (1.5, r"^seed=1\.5: expected"),
        ("12", "^seed='12': expected"),
        ([1, False], r"^seed\[1\]=False: expected"),
    ],
)
def test_seeds_that_are_no_whole_numbers_are_refused(seed: Any, message: str) -> None:
    with pytest.raises(lh.UserError, match=message):
        AccessVectorEnv(2, COLLIDING).reset(seed=seed)


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


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_no_step_follows_an_exception_of_the_reward(
    mode: AutoresetMode, error: type[BaseException]
) -> None:
    count = 0

    def reward(infos: Any) -> Any:
        nonlocal count
        count += 1
        if count == 3:  # the last step of the episode
            raise error
        return goodputs(infos)

    envs = AccessVectorEnv(2, COLLIDING, reward=reward, autoreset_mode=mode)
    first, _ = envs.reset(seed=1)
    for _ in range(2):
        envs.step(np.array([0, 1]))
    with pytest.raises(error):
        envs.step(np.array([0, 1]))
    with pytest.raises(lh.UserError, match=r"no episode is running; call reset\(\)"):
        envs.step(np.array([0, 1]))
    assert envs.reset(seed=1)[0].tobytes() == first.tobytes()
    _, rewards, *_ = envs.step(np.array([0, 1]))
    assert not np.isnan(rewards).any()


def test_intervals_that_are_rounded_divide_an_episode() -> None:
    """Three intervals of 1/3 s, rounded to nanoseconds, are 1 ns shorter than 1 s."""
    scenario = COLLIDING | {"duration": "1.5 s", "warmup": "0.5 s"}
    alone = AccessEnv(scenario, interval_s=1 / 3, reward=goodput)
    together = AccessVectorEnv(2, scenario, interval_s=1 / 3, reward=goodputs)
    alone.reset(seed=1)
    together.reset(seed=1)
    for last in (False, False, True):
        _, reward, _, truncated, _ = alone.step(np.int64(3))
        _, rewards, _, truncations, _ = together.step(np.array([3, 3]))
        assert (truncated, truncations.tolist()) == (last, [last, last])
        assert reward == rewards[0] > 0
    with pytest.raises(lh.UserError, match="no episode is running"):
        alone.step(np.int64(3))


def test_the_shortest_interval_is_simulated() -> None:
    alone = AccessEnv(COLLIDING, interval_s="1 us")
    together = AccessVectorEnv(1, COLLIDING, interval_s="1 us")
    alone.reset(seed=1)
    together.reset(seed=1)
    *_, info = alone.step(np.int64(3))
    *_, infos = together.step(np.array([3]))
    assert info["time_s"] == infos["time_s"][0] == 1e-6


def test_a_refused_reset_changes_no_seed() -> None:
    envs, expected = (AccessVectorEnv(2, COLLIDING) for _ in range(2))
    envs.reset(seed=1)
    expected.reset(seed=1)
    for seed in ([99, -1], [99, 1.5], [99]):
        with pytest.raises(lh.UserError, match=r"^seed"):
            envs.reset(seed=seed)
    assert envs.reset()[0].tobytes() == expected.reset()[0].tobytes()


def test_the_random_numbers_of_the_environment_are_seeded() -> None:
    first, second = (AccessVectorEnv(2, COLLIDING) for _ in range(2))
    first.reset(seed=1)
    second.reset(seed=np.int64(1))
    assert first.np_random.random() == second.np_random.random()
    assert first.np_random_seed == 1


def test_options_that_are_no_dictionary_are_refused() -> None:
    options: Any = "reset_mask"
    with pytest.raises(lh.UserError, match=r"^options='reset_mask': expected a dictionary, such"):
        AccessVectorEnv(2, COLLIDING).reset(options=options)


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
