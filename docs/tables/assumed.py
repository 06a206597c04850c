"""Tables of the assumptions of each model. Messages name the numbers."""

from collections.abc import Callable, Iterator
from importlib import import_module


def assumed(model: str) -> Callable[[], Iterator[str]]:
    """Return the function that writes the table of a model."""

    def lines() -> Iterator[str]:
        yield "| number | the model assumes |"
        yield "|---|---|"
        known = import_module(f"lasthop.models.{model}").ASSUMPTIONS
        for number, words in known.items():
            plain = words.removeprefix("of ")
            yield f"| {'' if number == 'cell' else number} | {plain} |"

    return lines
