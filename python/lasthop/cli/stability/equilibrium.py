"""`lasthop stability equilibrium`."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from lasthop.cli.boundary import warn
from lasthop.cli.options import JSON, MAX_MEMORY, MAX_TIME
from lasthop.cli.stability.answers import number, root_object, unit_of
from lasthop.cli.stability.options import PARAMETERS, Asked, CaseName, read_case
from lasthop.cli.tables import print_table

if TYPE_CHECKING:
    from lasthop.stability.case import Case

SUBJECTS = {"004": "red", "000": "vbs"}
"""Subject of each paper that has conditions."""
LOOP = {
    "a": ("a", "-"),
    "b": ("b", "-"),
    "k_pi": ("K", "1/(packet s)"),
    "z": ("z", "rad/s"),
    "crossover": ("crossover", "rad/s"),
    "phase_margin_degrees": ("phase margin", "degrees"),
    "gain_margin": ("gain margin", "-"),
    "delay_margin_s": ("delay margin", "s"),
}
"""Name and unit of each number of a PI queue's loop."""


def equilibrium(
    name: CaseName,
    settings: list[str] | None = PARAMETERS,
    max_time: float = MAX_TIME,
    max_memory: float = MAX_MEMORY,
    as_json: bool = JSON,
) -> None:
    """Find the equilibrium and its stability, and evaluate the stability conditions of the
    papers."""
    asked = read_case(name, settings)
    with asked.answering(max_time, max_memory):
        answer = described(asked.case)
        doubts = list(doubts_of(asked))
    if as_json:
        asked.printed(**answer)
        warn(*doubts)
        return
    asked.introduce()
    typer.echo(f"{verdict(answer)}\n")
    rows = [[state, number(value), unit_of(state)] for state, value in answer["states"].items()]
    if asked.fluid is not None and "queue" in answer["states"]:
        total = answer["states"]["queue"] * asked.fluid.flows
        rows.append(["queue of all", number(total), "packets"])
    rows += [[f"loss at queue {k + 1}", number(p), "-"] for k, p in enumerate(answer["loss"])]
    rows += [[f"delay {k + 1}", number(d), "s"] for k, d in enumerate(answer["delays_s"])]
    print_table(["at rest", "value", "unit"], rows)
    conditions = [
        [paper_of(each["equation"]), *map(number, (each["left"], each["right"])), *worth(each)]
        for each in answer["conditions"]
    ]
    if conditions:
        heads = ["condition", "left side", "must be below", "says", "which is"]
        print_table(heads, conditions)
    print_loops(answer)
    asked.list_parameters()
    warn(*doubts)


def paper_of(equation: str) -> str:
    """Return an equation by the subject of its paper."""
    number, _, which = equation.partition(" ")
    return f"{SUBJECTS[number]}, eq. {which}"


def worth(condition: dict[str, Any]) -> tuple[str, str]:
    """Return what a condition says, and what that is worth."""
    if condition["kind"] == "exact":
        return ("stable" if condition["holds"] else "unstable"), "exact"
    if condition["kind"] == "sufficient":
        return ("stable" if condition["holds"] else "nothing"), "sufficient"
    return ("stable" if condition["holds"] else "nothing"), "wrong in the paper"


def doubts_of(asked: Asked) -> Iterator[str]:
    """Yield what the equilibrium of a scenario makes doubtful."""
    from lasthop.models.errors import warning_text
    from lasthop.models.red.predict import doubts_at_rest

    if asked.scenario is not None and asked.fluid is not None:
        for doubt in doubts_at_rest(asked.scenario.typed.tcp_flows[0].tcp, asked.fluid):
            yield warning_text("red", doubt)


def described(case: "Case") -> dict[str, Any]:
    """Return equilibrium, verdict and conditions as an object."""
    from lasthop.stability.conditions import conditions
    from lasthop.stability.spectrum import roots

    rest = [float(value) for value in case.equilibrium]
    result = roots(case, 2)
    return {
        "states": dict(zip(case.model.states, rest, strict=True)),
        "loss": [float(p) for p in case.model.loss(case.derived, rest)],
        "delays_s": case.delays,
        "stable": result.stable,
        "rightmost_root": root_object(complex(result.values[0])),
        "period_s": result.period,
        "conditions": [
            {name: getattr(each, name) for name in ("equation", "kind", "left", "right", "holds")}
            for each in conditions(case)
        ],
        **loops_of(case),
    }


def loops_of(case: "Case") -> dict[str, Any]:
    """Return the loop of a PI queue, as it is and with the coefficients of its paper's rule."""
    from lasthop.stability.loop import designed, loop

    if "probability" not in case.model.states:
        return {}
    better = designed(case)
    return {"loop": asdict(loop(case)), "designed": better and asdict(loop(better))}


def digits(key: str, value: float | None) -> str:
    """Return a number of a loop; a and b with digits enough for their small difference."""
    from lasthop.cli.stability.answers import number

    return f"{value:.6e}" if key in ("a", "b") and value is not None else number(value)


def print_loops(answer: dict[str, Any]) -> None:
    """Print the loop of a PI queue, next to that of its paper's rule."""
    from lasthop.cli.tables import print_table

    if "loop" in answer:
        both = [answer["loop"], answer["designed"] or dict.fromkeys(LOOP)]
        rows = [
            [name, *(digits(key, each[key]) for each in both), unit]
            for key, (name, unit) in LOOP.items()
        ]
        print_table(["PI", "as it is", "designed", "unit"], rows)


def verdict(answer: dict[str, Any]) -> str:
    """Return in a sentence what a small disturbance does."""
    rate, period = answer["rightmost_root"]["real"], answer["period_s"]
    what = "decays" if answer["stable"] else "grows"
    swing = f", period {number(period)} s" if period else ""
    state = "stable" if answer["stable"] else "unstable"
    return f"{state}: a disturbance {what} by a factor of e in {number(abs(1.0 / rate))} s{swing}"
