"""Notes on settings such as ``queue=100``: they change the limit of a queue, but not its
discipline.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.errors import ScenarioError
from lasthop.scenario.scenario import Scenario
from lasthop.shell import command_text

if TYPE_CHECKING:
    from lasthop.sweep.grid import Grid

__all__ = ["kept_disciplines", "kept_in_sweep"]


def kept_disciplines(scenario: Scenario) -> Iterator[str]:
    """Yield a note for each setting that changed only the limit of a queue that is not a FIFO."""
    for index, (path, value) in enumerate(scenario.settings):
        if not _is_limit(path, value):
            continue
        plain = _with_fifo(scenario, index)
        if plain is not None and (name := _first_lost(scenario.to_dict(), plain.to_dict())):
            packets = "packet" if int(value) == 1 else "packets"
            yield (
                f"{path}={value} sets only the limit of {name}; for a FIFO of {value} {packets}, "
                f"set {command_text([f'{path}={{ limit = {value} }}'])}"
            )


def kept_in_sweep(scenario: Scenario, asked: "Grid") -> Iterator[str]:
    """Yield a note for each swept path that changes only the limit of a queue that is not a
    FIFO.
    """
    known = set(kept_disciplines(scenario))
    for path in asked.paths:
        limit = next((value for value in asked.column(path) if _is_limit(path, value)), None)
        if limit is None:
            continue
        with suppress(ScenarioError):  # The sweep reports errors later.
            point = Scenario(scenario, {**asked[0], path: limit})
            yield from [line for line in kept_disciplines(point) if line not in known][:1]


def _is_limit(path: str, value: str) -> bool:
    """Return whether a setting sets a queue to a bare number."""
    return path.endswith("queue") and value.strip().isdecimal()


def _with_fifo(scenario: Scenario, index: int) -> Scenario | None:
    """Return the scenario with the setting number `index` changed to a FIFO; None if the new
    scenario is invalid.
    """
    settings = [*scenario.settings]
    path, value = settings[index]
    settings[index] = (path, f"{{ limit = {value} }}")
    args = (scenario.format, scenario.source, settings, scenario.checked.files)
    try:
        return Scenario.of(_core.Scenario(scenario.content, *args))
    except ScenarioError:
        return None


def _first_lost(before: Any, after: Any) -> str:
    """Return the first queue discipline of `before` that `after` lacks at the same position; empty
    if there is none.
    """
    pairs = zip(_disciplines(before), _disciplines(after), strict=False)
    return next((item for item, other in pairs if item != other), "")


def _disciplines(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        if "discipline" in tree:
            yield tree["discipline"]
        for value in tree.values():
            yield from _disciplines(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _disciplines(value)
