"""Many simulations as one vector environment of Gymnasium."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from lasthop import _core
from lasthop.answers import names
from lasthop.arguments import listed_values, short
from lasthop.errors import UserError
from lasthop.learning.access import LARGEST_SEED, WINDOWS, Task, seed_of
from lasthop.numeric import whole_number
from lasthop.scenario.scenario import ScenarioLike, as_setting
from lasthop.simulation.many import SINGLE, list_and_name
from lasthop.simulation.simulate import thread_count

__all__ = ["AccessVectorEnv", "VectorReward", "goodputs", "goodputs_if_fair"]

Numbers: TypeAlias = NDArray[np.float64]

VectorReward = Callable[[Mapping[str, Any]], Numbers]
"""Function that computes the rewards, shape (num_envs,), from the infos of a step."""

MAX_ENVS = 1_000_000
"""Largest number of sub-environments."""

ENV_BYTES = 100e3
"""Memory of a sub-environment with a cell of four connections. [bytes]"""

REWARDED = ("cells.goodput_bps", "cells.jain")
"""Quantities that the rewards of this module need."""

MASK = "reset_mask"
"""Option of `AccessVectorEnv.reset` with the sub-environments to reset."""


def goodputs(infos: Mapping[str, Any]) -> Numbers:
    """Return the goodput of the cell in each sub-environment. [Mbit/s]"""
    rates: Numbers = infos["cells.goodput_bps"] / 1e6
    return rates


def goodputs_if_fair(infos: Mapping[str, Any]) -> Numbers:
    """Return the goodput of the cell times Jain's index, in each sub-environment. [Mbit/s]

    Without an index, the goodput is returned; see `goodput_if_fair`.
    """
    jain = infos["cells.jain"]
    return goodputs(infos) * np.where(np.isnan(jain), 1.0, jain)


class AccessVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], Any]):
    """Vector environment whose `num_envs` sub-environments each behave like an `AccessEnv`.

    One call of `step` advances all sub-environments in parallel, on `jobs` threads of the engine.

    Observations, rewards and ends of episodes of sub-environment i are bit-identical to those of an
    `AccessEnv` with the same seed and actions. After ``reset(seed=s)``, the seed of sub-environment
    i is s + i.

    Observations have the shape (num_envs, values), and `names` has the name of each value. Rewards,
    terminations and truncations have the shape (num_envs,). Infos have ``time_s`` and the requested
    `quantities` over the last interval. Their shape is (num_envs,) for quantities of ``cells``,
    ``aps`` and ``totals``, and (num_envs, items) for others, whose items are in `item_names`. A
    value that is missing is NaN. For each key there is a mask, such as ``_time_s``.

    With the mode ``NEXT_STEP``, the step after the end of an episode begins the next episode and
    ignores the action. With ``SAME_STEP``, the step that ends an episode also begins the next one,
    and ``infos["final_obs"]`` has the last observation. With ``DISABLED``,
    ``reset(options={"reset_mask": MASK})`` must begin the next episode. The mode is in
    ``metadata["autoreset_mode"]``.

    After Ctrl-C, or after an exception of `reward`, call `reset` before the next step.

    Parameters
    ----------
    num_envs : int
        Number of sub-environments.
    scenario : str, path, mapping or Scenario
        Scenario with a cell; see `lasthop.Scenario`.
    path, choices, interval_s
        See `AccessEnv`.
    reward : callable
        Function from the infos of a step to an array of rewards.
    quantities : sequence of str
        Quantities in the infos, each with its list, such as ``"stations.goodput_bps"``. The
        quantities that `goodputs_if_fair` needs are always included.
    autoreset_mode : AutoresetMode
        When the next episode begins: ``NEXT_STEP``, ``SAME_STEP`` or ``DISABLED``.
    jobs : int, optional
        Number of threads; by default one for each available processor.

    Raises
    ------
    ScenarioError
        If the scenario is refused, or if one of the choices is refused in the scenario.
    UserError
        If `num_envs` is not a whole number from 1, if a quantity cannot be read during a run, and
        for the reasons of `AccessEnv`.

    Examples
    --------
    >>> from lasthop.learning import AccessVectorEnv
    >>> cell = {"phy": "802.11n"}
    >>> sender = {"count": 5, "udp_up": "greedy"}
    >>> envs = AccessVectorEnv(4, {"duration": "9 s", "cell": cell, "station": {"sender": sender}})
    >>> observations, infos = envs.reset(seed=1)
    >>> actions = envs.action_space.sample()
    >>> observations, rewards, terminations, truncations, infos = envs.step(actions)
    >>> observations.shape, rewards.shape, infos["time_s"].round(1).tolist()
    ((4, 12), (4,), [1.9, 1.9, 1.9, 1.9])
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012, as in Gymnasium

    def __init__(
        self,
        num_envs: int,
        scenario: ScenarioLike,
        *,
        path: str = "cell.cwmin",
        choices: Sequence[object] = WINDOWS,
        interval_s: float | str = 1.0,
        reward: VectorReward = goodputs_if_fair,
        quantities: Sequence[str] = (),
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        jobs: int | None = None,
    ) -> None:
        count = whole_number(num_envs)
        if count is None or not 1 <= count <= MAX_ENVS:
            raise UserError(
                f"num_envs={short(num_envs)}: expected a whole number from 1 to {MAX_ENVS}; each "
                f"sub-environment needs {ENV_BYTES / 1e3:g} kB of memory or more"
            )
        self.mode = mode_of(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.mode}
        self.task = Task(scenario, path, choices, interval_s, "AccessVectorEnv")
        self.scenario, self.path, self.choices = self.task.scenario, path, self.task.choices
        self.interval_s, self.reward, self.names = self.task.interval_s, reward, self.task.names
        self.num_envs = count
        self.single_action_space = Discrete(len(self.choices))
        self.single_observation_space = self.task.observation_space()
        self.action_space = batch_space(self.single_action_space, count)
        self.observation_space = batch_space(self.single_observation_space, count)
        example = '["cells.jain"]'
        requested = listed_values("quantities", quantities, example)
        columns = [column_of(quantity) for quantity in (*REWARDED, *requested)]
        shown = list(dict.fromkeys(f"{own}.{name}" for own, name, _ in columns))
        typed = self.scenario.typed
        self._core = _core.Sessions(
            self.scenario.checked,
            count,
            thread_count(jobs),
            path=path,
            choices=[as_setting(choice, path) for choice in self.choices],
            begin_s=typed.warmup_s,
            interval_s=self.interval_s,
            columns=[*OBSERVED, *(column_of(quantity) for quantity in shown)],
        )
        self._places = self._places_of(shown)
        self._draws: list[np.random.Generator] = []
        self._observations = np.zeros(self.observation_space.shape or (), np.float32)
        self._ended = np.zeros(count, np.bool_)
        self._begun = np.zeros(count, np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode in each sub-environment, at the end of the warm-up.

        Parameters
        ----------
        seed : int or sequence, optional
            Seeds of the sub-environments, for this and the following episodes. An integer s sets
            the seeds s, s + 1, and so on. A sequence has one seed for each sub-environment.
        options : dict, optional
            ``{"reset_mask": MASK}`` resets only the sub-environments for which the array MASK,
            shape (num_envs,), is True. The other observations are those of the last step.

        Raises
        ------
        UserError
            If a seed is not a whole number from 0, if there are not `num_envs` seeds, if the mask
            is not valid, or if a sub-environment outside the mask has not begun.
        """
        mask = self._mask(options)
        if not (mask | self._begun).all():
            raise UserError("AccessVectorEnv: no episode is running; call reset() to begin one")
        self._seed(seed, mask)
        values = self._advance(np.full(self.num_envs, -1), mask)
        self._ended[mask] = False
        self._begun[mask] = True
        self._observe(values, mask)
        return self._observations.copy(), self._infos(values, mask)

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], Numbers, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Apply the choice with the index ``actions[i]`` in sub-environment i, and run for
        `interval_s`.

        Parameters
        ----------
        actions : array of int, shape (num_envs,)
            Indices of choices.

        Returns
        -------
        observations, rewards, terminations, truncations, infos
            Terminations are False, and truncations are True at the end of the scenario. A
            sub-environment that began an episode in this step has the reward 0.

        Raises
        ------
        UserError
            If an episode has not begun or, without autoreset, has ended; or if there is no such
            choice.
        """
        indices = self._indices(actions)
        if not self._begun.all():
            raise UserError("AccessVectorEnv: no episode is running; call reset() to begin one")
        if self.mode is AutoresetMode.DISABLED and self._ended.any():
            which = ", ".join(map(str, np.flatnonzero(self._ended)))
            raise UserError(
                f"AccessVectorEnv: the episode is over in sub-environments {which}",
                'call reset(options={"reset_mask": ended}) to begin the next',
            )
        try:
            return self._step(indices)
        except BaseException:
            self._begun[:] = False  # the step may be incomplete
            raise

    def _step(
        self, indices: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], Numbers, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Apply checked indices, see `step`."""
        resets = self._ended.copy()
        values = self._advance(indices, resets)
        everywhere = np.ones(self.num_envs, np.bool_)
        self._observe(values, everywhere)
        infos = self._infos(values, everywhere)
        rewards = np.asarray(self.reward(infos), np.float64).copy()
        if rewards.shape != (self.num_envs,):
            raise UserError(
                f"reward: returned an array of shape {rewards.shape}; expected ({self.num_envs},)"
            )
        rewards[resets] = 0.0
        truncations = self.task.is_over(values[:, 0]) & ~resets
        self._ended = truncations.copy()
        if self.mode is AutoresetMode.SAME_STEP and truncations.any():
            infos = self._begin_again(truncations, infos)
        terminations = np.zeros(self.num_envs, np.bool_)
        return self._observations.copy(), rewards, terminations, truncations, infos

    @property
    def item_names(self) -> dict[str, tuple[str, ...]]:
        """Names of the items of each quantity in the infos."""
        return {quantity: own for quantity, (_, own) in self._places.items()}

    def close_extras(self, **kwargs: Any) -> None:
        """End all runs."""
        self._core.close()

    def _places_of(self, shown: Sequence[str]) -> dict[str, tuple[slice, tuple[str, ...]]]:
        """Return the columns and the items of each quantity of the infos.

        Raises
        ------
        UserError
            If a quantity cannot be read during a run.
        """
        every = self._core.names
        at = 1 + sum(map(len, every[: len(OBSERVED)]))
        self._queue = 1 + sum(map(len, every[: len(OBSERVED) - 1])) + every[3].index("ap")
        places: dict[str, tuple[slice, tuple[str, ...]]] = {}
        for quantity, own in zip(shown, every[len(OBSERVED) :], strict=True):
            if not own:
                raise UserError(f"quantities: {quantity} has no value during a run of the scenario")
            places[quantity] = slice(at, at + len(own)), tuple(own)
            at += len(own)
        self._width = at
        return places

    def _mask(self, options: Mapping[str, Any] | None) -> NDArray[np.bool_]:
        if options is not None and not isinstance(options, Mapping):
            raise UserError(
                f'options={short(options)}: expected a dictionary, such as {{"{MASK}": mask}}'
            )
        if options is None or MASK not in options:
            return np.ones(self.num_envs, np.bool_)
        mask = np.asarray(options[MASK])
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise UserError(
                f"options: {MASK} must be an array of {self.num_envs} booleans, at least one of "
                "them True"
            )
        return mask

    def _seed(self, seed: int | Sequence[int | None] | None, mask: NDArray[np.bool_]) -> None:
        """Reseed the random numbers from which the seeds of episodes are drawn."""
        seeds = self._seeds(seed)
        if (own := whole_number(seed)) is not None:
            # The random numbers of this object itself, as in other environments.
            self._np_random, self._np_random_seed = seeding.np_random(own)
        if not self._draws:
            self._draws = [seeding.np_random(own)[0] for own in seeds]
            return
        for number in np.flatnonzero(mask):
            if seeds[number] is not None:
                self._draws[number] = seeding.np_random(seeds[number])[0]

    def _seeds(self, seed: object) -> list[int | None]:
        """Return the seed of each sub-environment."""
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, str) or not isinstance(seed, Iterable):
            first = seed_of("seed", seed)
            return [first + k for k in range(self.num_envs)]
        seeds = [
            None if each is None else seed_of(f"seed[{k}]", each) for k, each in enumerate(seed)
        ]
        if len(seeds) != self.num_envs:
            raise UserError(f"seed: {len(seeds)} seeds; expected {self.num_envs}")
        return seeds

    def _indices(self, actions: Any) -> NDArray[np.int64]:
        try:
            given: NDArray[Any] = np.asarray(actions)
        except ValueError:  # rows of different lengths
            given = np.empty(0)
        if given.shape != (self.num_envs,):
            raise UserError(
                f"actions={short(actions)}: expected an array of shape ({self.num_envs},)"
            )
        if np.issubdtype(given.dtype, np.integer):
            invalid = (given < 0) | (given >= len(self.choices))
            if not invalid.any():
                return given
        every = list(actions) if isinstance(actions, list | tuple) else given.tolist()
        valid = range(len(self.choices))
        wrong = [k for k, each in enumerate(every) if whole_number(each) not in valid]
        if wrong:
            # In an array of floats every value is refused: name one that is no index, such as NaN.
            number = next((k for k in wrong if every[k] not in valid), wrong[0])
            raise self.task.no_such_action(every[number], f"actions[{number}]")
        return np.array([whole_number(each) for each in every], np.int64)

    def _advance(self, indices: NDArray[np.int64], resets: NDArray[np.bool_]) -> Numbers:
        """Reset the sub-environments of a mask. Advance the others by one step, if their index is
        not -1. Return all values.
        """
        seeds = [0] * self.num_envs
        for number in np.flatnonzero(resets):
            seeds[number] = int(self._draws[number].integers(1, LARGEST_SEED))
        try:
            numbers = self._core.advance(indices.tolist(), seeds)
        except BaseException:
            self._begun[:] = False
            raise
        return np.frombuffer(numbers, np.float64).reshape(self.num_envs, self._width)

    def _observe(self, values: Numbers, mask: NDArray[np.bool_]) -> None:
        """Update the observations of the sub-environments of a mask."""
        stations = len(self.task.stations)
        queue = values[:, self._queue, None]
        seen = np.nan_to_num(np.hstack([values[:, 1 : 2 + 2 * stations], queue]), nan=0.0)
        seen[:, :stations] /= 1e6
        # An attempt that began before the interval may collide within the interval, so the ratio
        # may exceed 1.
        rates = seen[:, stations:-1]
        np.minimum(rates, 1.0, out=rates)
        self._observations[mask] = seen[mask]

    def _infos(self, values: Numbers, mask: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the infos of the sub-environments of a mask, each with its mask."""
        infos: dict[str, Any] = {"time_s": np.where(mask, values[:, 0], 0.0)}
        for quantity, (columns, _) in self._places.items():
            single = quantity.rpartition(".")[0] in SINGLE
            infos[quantity] = values[:, columns.start if single else columns]
        return infos | {f"_{key}": mask.copy() for key in infos}

    def _begin_again(self, ended: NDArray[np.bool_], last: dict[str, Any]) -> dict[str, Any]:
        """Begin an episode in the sub-environments that have ended, and return the infos."""
        final = np.full(self.num_envs, None, object)
        for number in np.flatnonzero(ended):
            final[number] = self._observations[number].copy()
        values = self._advance(np.full(self.num_envs, -1), ended)
        self._observe(values, ended)
        self._ended[:] = False
        infos = dict(last)
        for key, array in self._infos(values, ended).items():
            if not key.startswith("_"):
                infos[key] = last[key].copy()
                infos[key][ended] = array[ended]
        last = {key: ended.copy() if key.startswith("_") else own for key, own in last.items()}
        infos |= {"final_obs": final, "_final_obs": ended.copy()}
        return infos | {"final_info": last, "_final_info": ended.copy()}


OBSERVED = (
    ("stations", "goodput_bps", False),
    ("stations", "collision_rate", False),
    ("aps", "collision_rate", False),
    ("queues", names.OCCUPANCY_PACKETS, True),
)
"""Observed quantities: list, name, and whether the value is instantaneous (else over the
interval).
"""


def column_of(quantity: str) -> tuple[str, str, bool]:
    """Return the list, the name, and False: a value over the interval.

    Raises
    ------
    UserError
        If there is no such quantity, or if the list is missing.
    """
    return *list_and_name(quantity), False


def mode_of(mode: AutoresetMode | str) -> AutoresetMode:
    """Return the mode of autoreset.

    Raises
    ------
    UserError
        If there is no such mode.
    """
    for known in AutoresetMode:
        if mode in (known, known.value, known.name, f"AutoresetMode.{known.name}"):
            return known
    modes: Iterable[str] = (f"AutoresetMode.{known.name}" for known in AutoresetMode)
    raise UserError(f"autoreset_mode={mode!r}: expected one of {', '.join(modes)}")
