"""One simulation as an environment of Gymnasium."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import gymnasium
import numpy as np
from numpy.typing import NDArray

from lasthop.answers import names
from lasthop.arguments import listed_values, short
from lasthop.errors import UserError
from lasthop.numeric import whole_number
from lasthop.scenario.from_json import read_as
from lasthop.scenario.scenario import Scenario, ScenarioLike
from lasthop.simulation.session import Session, seconds_of
from lasthop.simulation.simulate import replaced

__all__ = ["WINDOWS", "AccessEnv", "Reward", "Task", "goodput", "goodput_if_fair", "seed_of"]

WINDOWS = (0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023)
"""Default choices of CWmin. [slots]"""

LARGEST_SEED = 2**31 - 1

SHORTEST_S = 1e-6
"""Shortest time between two actions. An episode is over if less than this time remains. For
example, three steps of 1/3 s, rounded to nanoseconds, end 1 ns before the end of one second. [s]
"""

HALF_NS = 0.5e-9
"""Half of the engine's unit of time, as a margin for rounding. [s]"""

LARGEST_RATE = 1e5
"""Upper bound of goodputs in the observation space. [Mbit/s]"""
LARGEST_QUEUE = 1e6
"""Upper bound of queue lengths in the observation space. [packets]"""

Reward = Callable[[Mapping[str, Any]], float]
"""Function that computes the reward from a reading of a `Session`."""


@dataclass(frozen=True)
class Item:
    """Measured values of a cell, a station or an access point over an interval.

    A value that the reading does not contain has the default.
    """

    goodput_bps: float = 0.0
    collision_rate: float = 0.0
    jain: float | None = None


@dataclass(frozen=True)
class Lists:
    """Stations and access points of a reading; empty at the start of the simulation."""

    stations: tuple[Item, ...] = ()
    aps: tuple[Item, ...] = ()


def cell_of(reading: Mapping[str, Any]) -> Item:
    """Return the values of the cell in a reading of a `Session`."""
    return read_as(Item, reading["cells"][0])


def goodput(reading: Mapping[str, Any]) -> float:
    """Return the goodput of the cell in a reading. [Mbit/s]"""
    return cell_of(reading).goodput_bps / 1e6


def goodput_if_fair(reading: Mapping[str, Any]) -> float:
    """Return the goodput of the cell times Jain's index of the stations. [Mbit/s]

    The index is 1/n if one of n stations gets the whole goodput. With fewer than two stations whose
    demand is not met, there is no index, and the goodput is returned.
    """
    cell = cell_of(reading)
    return cell.goodput_bps / 1e6 * (1.0 if cell.jain is None else cell.jain)


def seed_of(argument: str, seed: object) -> int:
    """Return the seed of an environment, from the argument with this name.

    Raises
    ------
    UserError
        If the seed is not a whole number from 0.
    """
    number = whole_number(seed)
    if number is None or number < 0:
        raise UserError(f"{argument}={short(seed)}: expected a whole number from 0")
    return number


class Task:
    """Checked task of an environment: the scenario, the choices, and the observed values.

    Parameters
    ----------
    scenario, path, choices, interval_s
        Arguments of the environment.
    who : str
        Name of the environment in messages.

    Raises
    ------
    ScenarioError
        If the scenario is refused, or if one of the choices is refused in the scenario.
    UserError
        If the scenario has no cell, if there is no time to act, if there is no choice, or if the
        setting cannot change during a run.
    """

    def __init__(
        self,
        scenario: ScenarioLike,
        path: str,
        choices: Sequence[object],
        interval_s: float | str,
        who: str,
    ) -> None:
        self.scenario: Scenario = replaced(scenario, (), replications=1)
        typed = self.scenario.typed
        if not typed.stations:
            raise UserError(f"{who}: the scenario has no cell; expected stations")
        self.interval_s = seconds_of(interval_s, "interval_s={!r}")
        measured_s = typed.duration_s - typed.warmup_s
        if not SHORTEST_S <= self.interval_s <= measured_s:
            raise UserError(
                f"interval_s={interval_s!r}: expected a time from {SHORTEST_S:g} s to "
                f"{measured_s:g} s, the time from `warmup` to `duration`"
            )
        self.path, self.choices = path, tuple(listed_values("choices", choices, "[7, 15, 31]"))
        if not self.choices:
            raise UserError("choices: must have at least one value")
        with Session(self.scenario) as session:
            for choice in self.choices:  # Refuse an invalid choice before the first run.
                self.scenario.with_(path, choice)
                session.set(path, choice)
        self.stations = [station.name for station in typed.stations]
        self.names = (
            *(f"goodput of {name} [Mbit/s]" for name in self.stations),
            *(f"collision rate of {name} [-]" for name in [*self.stations, "ap"]),
            "queue of ap [packets]",
        )

    def observation_space(self) -> gymnasium.spaces.Box:
        """Return the space of the observations of one environment."""
        count = len(self.stations)
        most = [LARGEST_RATE] * count + [1.0] * (count + 1) + [LARGEST_QUEUE]
        high = np.array(most, np.float32)
        return gymnasium.spaces.Box(np.zeros_like(high), high)

    @overload
    def is_over(self, now_s: float) -> bool: ...
    @overload
    def is_over(self, now_s: NDArray[np.float64]) -> NDArray[np.bool_]: ...
    def is_over(self, now_s: Any) -> Any:
        """Return whether an episode is over at this time, or at each time of an array. [s]"""
        return self.scenario.checked.length_s - now_s < SHORTEST_S - HALF_NS

    def no_such_action(self, action: object, name: str = "action") -> UserError:
        """Return the error for an action that is not the index of a choice; `name` is the name of
        the action in the message.
        """
        choices = ", ".join(map(str, self.choices))
        return UserError(
            f"{name}={short(action)}: expected a whole number from 0 to {len(self.choices) - 1}, "
            f"which stand for {self.path} = {choices}"
        )


class AccessEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """Environment in which an agent sets a value of a cell, by default the CWmin of all nodes.

    An episode is a run of the scenario from the end of its warm-up to its end, where it is
    truncated; no state is terminal. An action is the index of a choice. An observation contains the
    goodput of each station [Mbit/s], the collision rate of each station and of the access point
    [-], and the number of packets in the access point's queue. A missing value is 0. `names` has
    the name of each value. All other values of the reading are in ``info["reading"]``.

    Each episode has its own random streams, which are derived from the seed of the environment.
    Equal seeds give equal episodes.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        Scenario with a cell; see `lasthop.Scenario`.
    path : str
        Key path that an action sets; `Session.set` must be able to change it.
    choices : sequence
        Values among which an action selects.
    interval_s : float or str
        Simulated time between two actions [s], or text with its unit; at least 1 us. An
        episode is over if less than 1 us remains.
    reward : callable
        Function from a reading to a reward.

    Raises
    ------
    ScenarioError
        If the scenario is refused, or if one of the choices is refused in the scenario.
    UserError
        If the scenario has no cell, if there is no time to act, if there is no choice, or if the
        setting cannot change during a run.

    Examples
    --------
    >>> from lasthop.learning import AccessEnv
    >>> cell = {"phy": "802.11n"}
    >>> sender = {"count": 5, "udp_up": "greedy"}
    >>> env = AccessEnv({"duration": "9 s", "cell": cell, "station": {"sender": sender}})
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    >>> env.names[0], round(info["time_s"], 1), truncated
    ('goodput of sender-1 [Mbit/s]', 1.9, False)
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012, as in Gymnasium

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        path: str = "cell.cwmin",
        choices: Sequence[object] = WINDOWS,
        interval_s: float | str = 1.0,
        reward: Reward = goodput_if_fair,
    ) -> None:
        self.task = Task(scenario, path, choices, interval_s, "AccessEnv")
        self.scenario, self.path, self.choices = self.task.scenario, path, self.task.choices
        self.interval_s, self.reward = self.task.interval_s, reward
        self.names = self.task.names
        self.action_space = gymnasium.spaces.Discrete(len(self.choices))
        space: gymnasium.Space[Any] = self.task.observation_space()
        self.observation_space = space
        self.session: Session | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode at the end of the warm-up of a run with new random streams.

        Parameters
        ----------
        seed : int, optional
            Seed of the random streams of this and the following episodes.
        options : dict, optional
            Ignored.

        Raises
        ------
        UserError
            If the seed is not a whole number from 0.
        """
        super().reset(seed=None if seed is None else seed_of("seed", seed))
        self.close()
        drawn = int(self.np_random.integers(1, LARGEST_SEED))
        self.session = Session(self.scenario, seed=drawn)
        self.session.run_until(self.scenario.typed.warmup_s)
        return self._observe(self.session)

    def step(
        self, action: np.int64
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Apply the choice with this index, and run for `interval_s`.

        Raises
        ------
        UserError
            If no episode has begun, if the episode is over, or if there is no such choice.
        """
        if not self.action_space.contains(action):
            raise self.task.no_such_action(action)
        session = self.session
        if session is None or self.task.is_over(session.now_s):
            raise UserError("AccessEnv: no episode is running; call reset() to begin one")
        session.set(self.path, self.choices[int(action)])
        session.step(self.interval_s)
        observation, info = self._observe(session)
        truncated = self.task.is_over(session.now_s)
        return observation, float(self.reward(info["reading"])), False, truncated, info

    def close(self) -> None:
        """End the present run, if there is one."""
        if self.session is not None:
            self.session.close()
            self.session = None

    def _observe(self, session: Session) -> tuple[NDArray[np.float32], dict[str, Any]]:
        reading = session.read()
        lists = read_as(Lists, reading)
        values = [station.goodput_bps / 1e6 for station in lists.stations]
        # An attempt that began before the interval may collide within the interval, so the ratio
        # may exceed 1.
        values += [min(node.collision_rate, 1.0) for node in (*lists.stations, *lists.aps)]
        values += [session.values("queues", names.OCCUPANCY_PACKETS, now=True)["ap"]]
        padded = np.zeros(len(self.names), np.float32)
        padded[len(self.names) - len(values) :] = values
        return padded, {"time_s": session.now_s, "reading": reading}
