"""What is measured: the lists of a result, and the registry of quantities."""

import json
from functools import cache
from typing import Any

from lasthop import _core

__all__ = ["LISTS", "registry"]

LISTS = ("flows", "stations", "aps", "queues", "links", "cells", "classes", "stability", "totals")
"""Lists of a result, in the order in which they are shown."""


@cache
def registry() -> dict[str, dict[str, Any]]:
    """Every quantity by name: unit, lists, definition."""
    return {quantity["name"]: quantity for quantity in json.loads(_core.quantities())}
