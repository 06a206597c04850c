"""Reading of saved what-if questions."""

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from lasthop.answers.calls import call_of
from lasthop.answers.reading import WRONG_SHAPE, base_of
from lasthop.errors import UserError
from lasthop.scenario.from_json import Table, read_as
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.values import twice
from lasthop.whatif.cases import AS_IT_IS, Case
from lasthop.whatif.differences import Run
from lasthop.whatif.measures import of_dict
from lasthop.whatif.what_if import WhatIf

__all__ = ["read_what_if"]


class _Case(Table):
    """A case of a saved what-if question."""

    name: str
    settings: tuple[Any, ...]
    values: tuple[Any, ...]
    """Values of the case in each column."""
    is_random: bool
    only_as_it_is: tuple[str, ...]
    only_here: tuple[str, ...]
    is_unchanged: bool
    never_acts: bool = False
    calls: tuple[Any, ...] = ()


def read_what_if(file: Path, text: str, tree: Mapping[str, Any]) -> WhatIf:
    """Return the what-if question that a file contains."""
    base = base_of(file, tree)
    try:
        return of_tree(base, tree)
    except ValueError as error:
        raise UserError(f"{file}: a damaged what-if: {error}") from None
    except WRONG_SHAPE:
        raise UserError(
            f"{file}: a damaged what-if: a part is missing or has another shape"
        ) from None


def of_tree(scenario: Scenario, tree: Mapping[str, Any]) -> WhatIf:
    """Return the what-if question from the JSON tree that `WhatIf.to_json` wrote.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the tree has an unexpected structure, a duplicate case or column, a value that is not
        finite, or not exactly one value per replication.
    """
    measures = [of_dict(each) for each in tree["measures"]]
    runs = []
    for each in (read_as(_Case, case) for case in tree["cases"]):
        settings = tuple((str(path), str(value)) for path, value in each.settings)
        if len(each.values) != len(measures):
            raise ValueError("another number of columns than of measures")
        values = {
            measure.key: [None if value is None else float(value) for value in column]
            for measure, column in zip(measures, each.values, strict=True)
        }
        runs.append(
            Run(
                Case(each.name, settings),
                values,
                each.is_random,
                each.only_as_it_is,
                each.only_here,
                each.is_unchanged,
                each.never_acts,
                tuple(map(call_of, each.calls)),
            )
        )
    if len(runs) < 2 or not measures:
        raise ValueError("no cases or no measures")
    names = [each.case.name for each in runs]
    if names[0] != AS_IT_IS or twice(names) or twice([measure.key for measure in measures]):
        raise ValueError("a name is given twice, or the scenario as it is is missing")
    for column in (column for each in runs for column in each.values.values()):
        if len(column) != scenario.typed.replications:
            raise ValueError("other values than one per replication")
        if not all(value is None or isfinite(value) for value in column):
            raise ValueError("a value that is not finite")
    return WhatIf(scenario, measures, runs)
