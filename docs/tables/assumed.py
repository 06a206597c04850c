"""Tables of the assumptions of each model. Messages name the numbers."""

from collections.abc import Callable, Iterator

from lasthop.models.assumptions import BY_MODEL


def assumed(model: str) -> Callable[[], Iterator[str]]:
    """Return the function that writes the table of a model."""

    def lines() -> Iterator[str]:
        yield "| number | the model assumes |"
        yield "|---|---|"
        for number, words in BY_MODEL[model].items():
            plain = words.removeprefix("of ")
            yield f"| {'' if number == 'cell' else number} | {plain} |"

    return lines
