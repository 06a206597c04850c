"""Measured quantities: the lists of a result, and the registry of all quantities."""

import json
from functools import cache

from lasthop import _core
from lasthop.errors import UserError, nearest
from lasthop.scenario.from_json import Table, read_as

__all__ = ["LISTS", "check_list", "check_name", "registry"]

LISTS = (
    "flows",
    "stations",
    "aps",
    "queues",
    "tins",
    "waits",
    "links",
    "cells",
    "classes",
    "stability",
    "totals",
)
"""Names of the lists of a result, in the order in which they are shown."""


class Quantity(Table):
    """A measured quantity, as it is described in the registry."""

    name: str
    unit: str
    lists: tuple[str, ...]
    """Lists of a result that have the quantity."""
    definition: str

    @property
    def needs_tails(self) -> bool:
        """Whether results have the quantity only with ``tails=True``."""
        return "(tails=True)" in self.definition


@cache
def registry() -> dict[str, Quantity]:
    """Return the registry: all quantities by name."""
    quantities = (read_as(Quantity, each) for each in json.loads(_core.quantities()))
    return {quantity.name: quantity for quantity in quantities}


def check_list(asked: str) -> None:
    """Refuse an unknown name of a list of a result.

    Raises
    ------
    UserError
        If there is no such list; the message has the most similar names.
    """
    if asked not in LISTS:
        near = ", ".join(nearest(asked, LISTS))
        raise UserError(
            f'no list "{asked}"; the nearest are {near}', f"the lists are {', '.join(LISTS)}"
        )


def check_name(asked: str) -> None:
    """Refuse an unknown quantity before anything runs.

    Raises
    ------
    UserError
        If no result has the quantity; the message lists the most similar names.
    """
    name = asked.rpartition(".")[2]
    if name not in registry():
        near = ", ".join(nearest(name, list(registry())))
        raise UserError(
            f'no quantity "{name}"; the nearest are {near}',
            "`lasthop explain --terms` lists all quantities",
        )
    list_name, lists = asked.rpartition(".")[0], registry()[name].lists
    if list_name and list_name not in lists:
        raise UserError(
            f"{asked}: {list_name} do not have the quantity {name}; expected one of "
            f"{', '.join(f'{each}.{name}' for each in lists)}"
        )
