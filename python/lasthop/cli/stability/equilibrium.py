"""`lasthop stability equilibrium`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from lasthop.cli.boundary import warn
from lasthop.cli.options import JSON, MAX_MEMORY, MAX_TIME
from lasthop.cli.stability.answers import number, root_object, unit_of
from lasthop.cli.stability.options import PARAMETERS, Asked, CaseName, read_case
from lasthop.cli.tables import print_table

if TYPE_CHECKING:
    from lasthop.stability.case import Case
    from lasthop.stability.conditions import Condition
    from lasthop.stability.loop import Loop
    from lasthop.stability.spectrum import Roots

QUEUE = "queue"
"""Name of the state variable for the packets of one flow in the queue."""
SUBJECTS = {"004": "red", "000": "vbs"}
"""Topic of each paper with stability conditions, by the number of the paper."""
LOOP = {
    "a": ("a", "1/packet"),
    "b": ("b", "1/packet"),
    "k_pi": ("K", "1/(packet s)"),
    "z": ("z", "rad/s"),
    "crossover": ("crossover", "rad/s"),
    "phase_margin_degrees": ("phase margin", "degrees"),
    "gain_margin": ("gain margin", "-"),
    "delay_margin_s": ("delay margin", "s"),
}
"""Printed name and unit of each quantity of a PI queue's control loop."""


def equilibrium(
    name: CaseName,
    settings: list[str] | None = PARAMETERS,
    max_time: float = MAX_TIME,
    max_memory: float = MAX_MEMORY,
    as_json: bool = JSON,
) -> None:
    """Find the equilibrium and its stability, and evaluate the papers' stability conditions."""
    asked = read_case(name, settings)
    with asked.answering(max_time, max_memory):
        answer = Equilibrium.of(asked.case)
        warnings = list(warnings_of(asked))
    if as_json:
        asked.printed(**answer.to_dict())
        warn(*warnings)
        return
    asked.introduce()
    typer.echo(f"{verdict(answer.spectrum)}\n")
    rows = [[state, number(value), unit_of(state)] for state, value in answer.states.items()]
    if asked.fluid is not None and (queue := answer.states.get(QUEUE)) is not None:
        rows.append(["queue of all flows", number(queue * asked.fluid.flows), "packets"])
    rows += [[f"loss at queue {k}", number(p), "-"] for k, p in enumerate(answer.loss, 1)]
    rows += [[f"delay {k}", number(d), "s"] for k, d in enumerate(asked.case.delays, 1)]
    print_table(["equilibrium", "value", "unit"], rows)
    if answer.conditions:
        heads = ["condition", "left side", "must be below", "verdict", "kind"]
        conditions = [
            [paper_of(each.equation), number(each.left), number(each.right), *prediction_of(each)]
            for each in answer.conditions
        ]
        print_table(heads, conditions)
    print_loops(answer)
    asked.list_parameters()
    warn(*warnings)


@dataclass(frozen=True)
class Equilibrium:
    """Equilibrium of a case, its stability, the papers' conditions, and the loop of a PI queue."""

    case: "Case"
    states: dict[str, float]
    """Values at the equilibrium, by name of the state variable."""
    loss: list[float]
    spectrum: "Roots"
    conditions: "Sequence[Condition]"
    loop: "Loop | None" = None
    designed: "Loop | None" = None
    """Control loop with the coefficients that the design rule of the paper sets."""

    @classmethod
    def of(cls, case: "Case") -> "Equilibrium":
        """Compute the equilibrium of a case."""
        from lasthop.stability.conditions import conditions
        from lasthop.stability.loop import designed, loop
        from lasthop.stability.spectrum import roots

        rest = [float(value) for value in case.equilibrium]
        states = dict(zip(case.model.states, rest, strict=True))
        loss = [float(p) for p in case.model.loss(case.derived, rest)]
        answer = cls(case, states, loss, roots(case, 2), list(conditions(case)))
        if "probability" not in case.model.states:
            return answer
        better = designed(case)
        return replace(answer, loop=loop(case), designed=None if better is None else loop(better))

    def to_dict(self) -> dict[str, Any]:
        """Return the equilibrium as an object for JSON."""
        names = ("equation", "kind", "left", "right", "holds")
        tree = {
            "states": self.states,
            "loss": self.loss,
            "delays_s": self.case.delays,
            "stable": self.spectrum.stable,
            "rightmost_root": root_object(complex(self.spectrum.values[0])),
            "period_s": self.spectrum.period,
            "conditions": [
                {name: getattr(each, name) for name in names} for each in self.conditions
            ],
        }
        if self.loop is None:
            return tree
        return {
            **tree,
            "loop": asdict(self.loop),
            "designed": self.designed and asdict(self.designed),
        }


def paper_of(equation: str) -> str:
    """Return the number of an equation with the topic of its paper, such as ``red, eq. 9``."""
    number, _, which = equation.partition(" ")
    return f"{SUBJECTS[number]}, eq. {which}"


def prediction_of(condition: "Condition") -> tuple[str, str]:
    """Return the verdict of a condition, and whether the condition is exact, sufficient or not
    sufficient.
    """
    if condition.kind == "exact":
        return ("stable" if condition.holds else "unstable"), "exact"
    kind = "sufficient" if condition.kind == "sufficient" else "not sufficient"
    return ("stable" if condition.holds else "none"), kind


def warnings_of(asked: Asked) -> Iterator[str]:
    """Yield warnings that follow from the equilibrium of a scenario."""
    from lasthop.models.errors import warning_text
    from lasthop.models.red.predict import doubts_at_equilibrium

    if asked.scenario is not None and asked.fluid is not None:
        for doubt in doubts_at_equilibrium(asked.scenario.typed.tcp_flows[0].tcp, asked.fluid):
            yield warning_text("red", doubt)


def digits(key: str, value: float | None) -> str:
    """Return a quantity of the control loop as text; a and b have more digits, since their
    difference is small.
    """
    return f"{value:.6e}" if key in ("a", "b") and value is not None else number(value)


def print_loops(answer: Equilibrium) -> None:
    """Print the control loop of a PI queue, and the loop with the coefficients of the design
    rule.
    """
    if answer.loop is not None:
        both = [answer.loop, answer.designed]
        rows = [
            [name, *(digits(key, getattr(each, key, None)) for each in both), unit]
            for key, (name, unit) in LOOP.items()
        ]
        print_table(["PI queue", "scenario", "design rule", "unit"], rows)


def verdict(spectrum: "Roots") -> str:
    """Return a sentence on whether a small disturbance of the equilibrium dies out."""
    what = "decays" if spectrum.stable else "grows"
    period = f" (period {number(spectrum.period)} s)" if spectrum.period else ""
    state = "stable" if spectrum.stable else "unstable"
    time = number(abs(1.0 / float(spectrum.values[0].real)))
    return f"{state}: a disturbance {what} by a factor of e in {time} s{period}"
