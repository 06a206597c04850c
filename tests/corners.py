"""Extreme values of scenarios: the smallest and largest value of every key, as given by the schema.

`Corners` lists the keys of a scenario's tables. The values of a key are its smallest and largest
number, all its words, or both truth values. A new key of the schema is included automatically.
"""

import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

Schema = Mapping[str, Any]
Setting = tuple[str, object]

ENDS = {
    "bps": ["1 bps", "100 Gbps"],
    "ms": ["0 ns", "1 us", "100 s"],
    "kB": ["1 B", "65535 B"],
    "dB": ["-20 dB", "60 dB"],
    "km": ["1 mm", "100 km"],
}
"""Smallest and largest value by unit, for keys whose documentation does not state the range. The
unit of a key is read from its pattern.
"""
AMOUNT = r"-?\d+(?:\.\d+)?(?: (?:ns|us|ms|s|bps|kbps|Mbps|Gbps|B|kB|dB|mm|m|km)\b)?"
RANGE = re.compile(rf"from ({AMOUNT}) to ({AMOUNT})|above 0 and up to ({AMOUNT})")
TABLES = ("station", "link", "flow", "node", "class")
"""Names of the tables that contain named tables. Only the names in the scenario are used."""
LEFT = ("name", "seed", "replications", "record", "gateway", "interface", "program", "from", "to")
"""Keys that are not varied, because they do not describe the network or are names in the
network.
"""
NEARLY = 1.0 - 1e-9
"""The largest tested number below 1. [-]"""


class Corners:
    """Keys of a scenario with their extreme values.

    Parameters
    ----------
    schema : mapping
        The schema that `lasthop schema` prints.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def of(self, scenario: Mapping[str, Any]) -> dict[str, list[object]]:
        """Return the keys of a scenario's tables by path, each with its extreme values."""
        return dict(self._table(self._schema["properties"], scenario, ""))

    def draw(self, scenario: Mapping[str, Any], draws: Random, most: int = 3) -> list[Setting]:
        """Return a few keys of a scenario, each with one of its extreme values."""
        keys = self.of(scenario)
        chosen = draws.sample(sorted(keys), draws.randint(1, min(most, len(keys))))
        return [(key, draws.choice(keys[key])) for key in chosen]

    def _table(
        self, properties: Schema, scenario: Mapping[str, Any], above: str
    ) -> Iterator[tuple[str, list[object]]]:
        for key, schema in properties.items():
            if key in LEFT:
                continue
            own = scenario.get(key)
            path = f"{above}{key}"
            if key in TABLES and isinstance(own, Mapping) and "additionalProperties" in schema:
                inner = self._kinds(schema["additionalProperties"])
                for name, table in own.items():
                    for kind in inner:
                        yield from self._table(kind.get("properties", {}), table, f"{path}.{name}.")
                continue
            corners: list[object] = []
            for kind in self._kinds(schema):
                if "properties" not in kind:
                    corners += ends(kind, schema.get("description", ""))
                elif isinstance(own, Mapping) or (not above and key in ("tcp", "udp", "wire")):
                    yield from self._table(kind["properties"], own or {}, f"{path}.")
            if corners:
                yield path, corners

    def _kinds(self, schema: Schema) -> list[Schema]:
        """Return the schemas of the alternative types of values that a key accepts."""
        kinds = []
        for kind in schema.get("oneOf", [schema]):
            name = kind.get("$ref", "").removeprefix("#/$defs/")
            kinds.append(self._schema["$defs"][name] if name else kind)
        return kinds


def ends(schema: Schema, documentation: str) -> list[object]:
    """Return the smallest and largest value, the accepted words, or both truth values."""
    if "enum" in schema:
        return list(schema["enum"])
    if schema.get("type") == "boolean":
        return [True, False]
    if schema.get("type") in ("integer", "number"):
        return numbers(schema)
    if schema.get("type") == "string" and "pattern" in schema:
        words = re.findall(r'"([a-z]+)"', documentation)
        return [*amounts(schema["pattern"], documentation), *words]
    return []


def numbers(schema: Schema) -> list[object]:
    """Return the smallest and largest number of a range."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMaximum" in schema:
        high = NEARLY * schema["exclusiveMaximum"]
    return [end for end in (low, high) if end is not None]


def amounts(pattern: str, documentation: str) -> list[object]:
    """Return the smallest and largest amount of a range with units, or all amounts if the schema
    lists them.
    """
    unit = next((unit for unit in ENDS if unit in pattern), None)
    if unit is None:
        return []
    listed = re.search(r"Allowed are ((?:[^.]|\.\d)*)\.", documentation)
    if listed:
        amounts = re.sub(r"802\.11\S*", "", listed[1])
        named = re.findall(r"[a-zA-Z]+", amounts)[-1]
        return [
            f"{number} {named}" for number in sorted(set(re.findall(r"\d+(?:\.\d+)?", amounts)))
        ]
    values: list[object] = []
    for low, high, highest in RANGE.findall(documentation):
        named = re.sub(r"^[-\d.]+ ?", "", high or highest)
        if highest:
            values += [ENDS[unit][0], highest]
        else:
            values += [low if " " in low else f"{low} {named}", high]
    return values or list(ENDS[unit])
