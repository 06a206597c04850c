"""Simulation in steps: run to a point in time, read values, change a setting, continue."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple

from lasthop import _core
from lasthop.arguments import flag
from lasthop.errors import UserError, nearest
from lasthop.numeric import whole_number
from lasthop.scenario.scenario import ScenarioLike, as_setting, blaming
from lasthop.scenario.values import in_si
from lasthop.simulation.result import Result
from lasthop.simulation.simulate import replaced

__all__ = ["Change", "Changeable", "Session", "seconds_of"]

MAX_LISTED = 4
"""Maximum number of changeable keys that an error message lists in full."""

MAX_REPLICATION = 2**32 - 1
"""Largest accepted number of a replication."""


class Changeable(NamedTuple):
    """A value of a scenario that can be changed during a simulation."""

    value: float | None
    """Present value, in the unit `unit`; None if the value is a word, which is in `text`."""
    text: str
    """Present value in the notation of a scenario file, such as ``20 Mbps``."""
    unit: str
    """Unit of the numbers: ``bit/s``, ``s``, or ``-``."""
    least: float
    """Smallest value that the key accepts, in the unit `unit`. Other settings may set a higher
    minimum.
    """
    greatest: float
    """Largest value that the key accepts, in the unit `unit`. Other settings may set a lower
    maximum, such as ``cwmax`` for ``cwmin``.
    """


class Change(NamedTuple):
    """A change of a setting that was made during the simulation."""

    time_s: float
    """Simulated time of the change. [s]"""
    path: str
    """Key path of the changed value."""
    value: str
    """New value, in the notation of a scenario file."""


class Session:
    """One replication of a scenario, driven step by step.

    Reading does not affect the run: without a change, `finish` returns the same result as
    ``simulate(scenario, replications=1)``. A change applies to later events: later arrivals at a
    queue, later backoffs, and the next packet at a new rate. If the new limit of a queue is below
    its backlog, no waiting packet is dropped. A change before the first step has the same effect as
    a change in the scenario.

    The engine runs in its own thread, without the GIL. Ctrl-C interrupts a step; the next
    `run_until` or `step` also completes the interrupted step. A session is a context manager, and
    is closed at its end.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    seed : int, optional
        Seed that replaces the scenario's.
    replication : int
        Number of the replication, from 0, whose random streams are used.
    series : str, optional
        Sampling interval of time series, such as ``"0.1 s"``.
    frames : int, optional
        Maximum number of recorded frames.
    tails : bool
        Whether to report also the quantities that averages do not show, see `simulate`.
    settings : mapping or pairs
        Further values to replace before the run begins, such as ``{"cell.ap.cwmin": 15}``.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    UserError
        If the scenario's duration is longer than the engine supports.

    Examples
    --------
    >>> import lasthop as lh
    >>> scenario = {
    ...     "duration": "5 s",
    ...     "warmup": "1 s",
    ...     "cell": {"phy": "802.11b"},
    ...     "station": {"sender": {"upload": 4}, "reader": {"download": 1}},
    ... }
    >>> with lh.Session(scenario) as session:
    ...     session.run_until(2.0)
    ...     before = session.read()
    ...     session.set("cell.ap.cwmin", 0)
    ...     session.step(1.0)
    ...     after = session.values("stations", "goodput_bps")
    ...     result = session.finish()
    >>> before["time_s"], session.changes[0].path
    (2.0, 'cell.ap.cwmin')
    >>> list(after)
    ['sender', 'reader']
    """

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        seed: int | None = None,
        replication: int = 0,
        series: str | None = None,
        frames: int | None = None,
        tails: bool = False,
        settings: Mapping[str, object] | Sequence[tuple[str, object]] = (),
    ) -> None:
        number = whole_number(replication)
        if number is None or not 0 <= number <= MAX_REPLICATION:
            raise UserError(
                f"replication={replication!r}: expected a whole number from 0 to {MAX_REPLICATION}"
            )
        self.scenario = replaced(
            scenario, settings, replications=1, seed=seed, series=series, frames=frames
        )
        self.changes: list[Change] = []
        self._last: dict[str, Any] | None = None
        self._core = _core.Session(self.scenario.checked, number, flag("tails", tails))

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        name = f"{self.scenario.source!r}: {self.scenario['name']!r}"
        try:
            state = f"at {self.now_s:.9g} s of {self.duration_s:.9g} s"
        except UserError as error:
            state = str(error).removeprefix("session: ").partition(", ")[0]
        return f"Session({name}, {state})"

    @property
    def now_s(self) -> float:
        """Simulated time so far. [s]"""
        return self._core.now_s

    @property
    def duration_s(self) -> float:
        """Simulated time at which the run ends. [s]"""
        return self.scenario.checked.length_s

    def step(self, seconds: float | str) -> None:
        """Run for a simulated time; a step that is longer than the remaining time stops at the end.

        Parameters
        ----------
        seconds : float or str
            Time to run, above 0 [s], or text with a unit, such as ``"100 ms"``.

        Raises
        ------
        UserError
            If the time is invalid, if the session has ended or is closed, or if another thread uses
            the session.
        KeyboardInterrupt
            At Ctrl-C; the next step also completes the interrupted step.
        """
        before_s = self.now_s
        self._core.step(seconds_of(seconds, "step({!r})"))
        if before_s >= self.duration_s:
            raise UserError(
                f"step({seconds!r}): the session is at {self.duration_s:.9g} s, its end",
                "call finish() for the result",
            )

    def run_until(self, time_s: float | str) -> None:
        """Run to a simulated time.

        Events of the medium and of links at that instant are processed; other events at that
        instant are not.

        Parameters
        ----------
        time_s : float or str
            Time of the end of the run [s], or text with a unit, such as ``"20 s"``. The time must
            be neither before the present time nor after the end of the scenario.

        Raises
        ------
        UserError
            If the time is invalid, if the session is closed, or if another thread uses the session.
        KeyboardInterrupt
            At Ctrl-C; call `run_until` with the same time to continue.
        """
        self._core.run_until(seconds_of(time_s, "run_until({!r})"))

    def read(self) -> dict[str, Any]:
        """Return averages since the last reading, and present values.

        Returns
        -------
        dict
            ``time_s`` and ``interval_s``, the time since the previous reading or the start. Lists
            of items with ``name`` and plain numbers over the interval, by the names and units of
            the registry; for example, ``cwnd_packets`` is an average. ``now``, lists of the same
            shape with values at this instant: windows, queues, C, the last ping. Quantities
            without a value are absent; the lists are absent if no time has passed. Quantities that
            are measured only since the end of the warm-up, such as percentiles, are in the result.
        """
        reading: dict[str, Any] = json.loads(self._core.read())
        self._last = reading
        return reading

    def values(self, list_name: str, quantity: str, *, now: bool = False) -> dict[str, float]:
        """Return a quantity of the last reading by name of the item; read first if needed.

        Parameters
        ----------
        list_name, quantity : str
            Names of the list and of the quantity, such as ``"flows", "goodput_bps"``.
        now : bool
            Whether to return values at the instant of the reading, instead of over the interval.

        Returns
        -------
        dict
            Values by name; items without a value are absent.

        Raises
        ------
        UserError
            If the reading has no such list, or if no item of the list has this quantity.
        """
        reading = self.read() if self._last is None else self._last
        lists = reading["now"] if now else reading
        known = {name: items for name, items in lists.items() if isinstance(items, list)}
        if list_name not in known:
            where = " now" if now else ""
            raise UserError(
                f"no list {list_name!r} in the reading{where}",
                f"there are {', '.join(known) or 'none: no time has passed yet'}",
            )
        items = known[list_name]
        results = {item["name"]: item[quantity] for item in items if quantity in item}
        if not results and quantity not in _of_list(list_name):
            present = {key for item in items for key, value in item.items() if _is_number(value)}
            near = ", ".join(nearest(quantity, sorted(present)))
            raise UserError(f"{list_name} have no {quantity!r}; there are {near}")
        return results

    def set(self, path: str, value: object) -> None:
        """Change a value of the scenario, from the present time on.

        The value is checked together with all other settings, like a value of a file.

        Parameters
        ----------
        path : str
            Key path in the grammar of the file: a path of `changeable`, or a path that sets several
            of these values, such as ``cell.cwmin``.
        value : object
            A number, or text with its unit, such as ``"12 Mbps"``.

        Raises
        ------
        ScenarioError
            If the value is not valid in a file.
        UserError
            If the setting cannot change during a simulation.
        """
        text = as_setting(value, path)
        with blaming({path: f"set({path!r}, {value!r})"}):
            changed = self._core.set(path, text)
        if not changed:
            present = list(self.changeable())
            raise UserError(
                f"`{path}`: {text} cannot be set during a simulation; {_instead(path, present)}",
                f"Session.changeable() lists all {len(present)}"
                if len(present) > MAX_LISTED
                else None,
            )
        self.changes.append(Change(self.now_s, path, text))

    def changeable(self) -> dict[str, Changeable]:
        """Return the values that may change during a simulation, by key path, with their ranges.

        `set` also checks a value together with other settings, which may restrict the range: no
        ``cwmin`` is above its ``cwmax``.

        Returns
        -------
        dict
            Windows and opportunities of the access point and of each table of stations, by
            category; limits and thresholds of queues; the rate C of a virtual shared bottleneck
            whose rate is given.
        """
        every = json.loads(self._core.changeable())
        return {each.pop("path"): Changeable(**each) for each in every}

    def finish(self) -> Result:
        """Run to the end, close the session, and return the result.

        Returns
        -------
        Result
            Result of one replication, over the time after the warm-up. Its scenario is the scenario
            at the beginning; `changes` lists the changes.

        Raises
        ------
        UserError
            If the session is closed, or if another thread uses the session.
        KeyboardInterrupt
            At Ctrl-C; call `finish` again to continue.
        """
        return Result(self._core.finish(), self.scenario)

    def close(self) -> None:
        """End the session without a result. Nothing happens if the session is closed."""
        self._core.close()


def seconds_of(given: float | str, what: str) -> float:
    """Return a time from a number of seconds or from text with a unit. [s]

    Parameters
    ----------
    given : float or str
        Time, such as ``1.5`` or ``"1500 ms"``.
    what : str
        Beginning of error messages, with a placeholder for the value: ``"step({!r})"``.

    Raises
    ------
    UserError
        If the value is neither a number nor text with a unit.
    """
    with suppress(TypeError, ValueError):
        if not isinstance(given, str):
            return float(given)
    result = in_si(given) if isinstance(given, str) else None
    if result is None or result[1] != "s":
        raise UserError(
            f"{what.format(given)}: expected a number of seconds, or text with its unit, "
            f'such as "100 ms"'
        )
    return float(result[0])


def _instead(path: str, present: Sequence[str]) -> str:
    """Return text that lists the keys that can be changed: all keys if they are few, otherwise the
    keys similar to the path.
    """
    if not present:
        return "nothing of this scenario can"
    if len(present) <= MAX_LISTED:
        return f"what can change is {', '.join(present)}"
    return f"other keys can, such as {', '.join(nearest(path, present))}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _of_list(list_name: str) -> set[str]:
    """Return the names of the quantities that a list may contain."""
    from lasthop.answers.quantities import registry

    return {name for name, item in registry().items() if list_name in item.lists}
