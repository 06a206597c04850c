"""`lasthop stability roots`."""

from math import ceil, log10

import typer

from lasthop.cli.options import JSON, MAX_MEMORY, MAX_TIME, number_of
from lasthop.cli.stability.answers import number, root_object
from lasthop.cli.stability.options import PARAMETERS, CaseName, read_case
from lasthop.cli.tables import print_table

LEAST = -9
"""Exponent of the smallest printed power of ten. Smaller distances are rounding errors, which
depend on the processor.
"""


def roots(
    name: CaseName,
    settings: list[str] | None = PARAMETERS,
    count: int = number_of(6, 1, 40, "Find at most N roots."),
    max_time: float = MAX_TIME,
    max_memory: float = MAX_MEMORY,
    as_json: bool = JSON,
) -> None:
    """Find the rightmost characteristic roots. Roots far to the left may be missing."""
    from lasthop.stability.spectrum import roots as find

    asked = read_case(name, settings)
    with asked.answering(max_time, max_memory):
        result = find(asked.case, count)
    if as_json:
        asked.printed(
            stable=result.stable,
            points=result.points,
            roots=[root_object(complex(root)) for root in result.values],
            unpolished=[root_object(complex(root)) for root in result.unpolished],
        )
        return
    asked.introduce()
    rows = []
    for root, raw in zip(result.values, result.unpolished, strict=True):
        if root.imag >= 0.0:
            pair = "complex pair" if root.imag else "real"
            moved = bound(abs(root - raw))
            rows.append([pair, number(root.real), number(root.imag), moved])
    heads = ["root", "real part\n[1/s]", "imaginary part\n[rad/s]", "Newton\ncorrection\n[1/s]"]
    print_table(heads, rows)
    typer.echo("stable" if result.stable else "unstable")


def bound(distance: float) -> str:
    """Return a power of ten that exceeds the distance, at least 10 to the power of `LEAST`."""
    return f"< {10.0 ** max(ceil(log10(max(distance, 1e-300))), LEAST):.0e}"
