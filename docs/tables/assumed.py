"""Tables of each model's assumptions. `lasthop predict` refers to an assumption by its number."""

from collections.abc import Callable, Iterator

from lasthop.models.assumptions import BY_MODEL


def assumed(model: str) -> Callable[[], Iterator[str]]:
    """Return the function that yields the table of a model's assumptions."""

    def lines() -> Iterator[str]:
        yield "| number | the model assumes |"
        yield "|---|---|"
        for number, words in BY_MODEL[model].items():
            plain = words.removeprefix("of ")
            yield f"| {'' if number == 'cell' else number} | {plain} |"

    return lines
