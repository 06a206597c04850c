"""Checks of the structure of summaries and records that are read from files."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from lasthop import _core
from lasthop.answers.quantities import LISTS

__all__ = ["fault_in", "fault_in_format", "fault_in_record", "fault_in_version"]

NUMBER = (int, float)
NEEDED: Mapping[str, tuple[type, ...]] = {"kind": (str,), "scenario": (str,), "version": (str,)}
"""Required keys of every summary, with the types of their values."""

OF_RUNS: Mapping[str, tuple[type, ...]] = {
    "seed": (int,),
    "replications": (int,),
    "duration_s": NUMBER,
    "warmup_s": NUMBER,
}
"""Additional required keys of the summaries of simulations and emulations."""


def fault_in(summary: Any) -> str | None:
    """Return a description of the first error in the structure of a summary; None if it is
    valid.
    """
    return next(_faults(summary), None)


def fault_in_version(tree: Mapping[str, Any]) -> str | None:
    """Return a description of an error in version or format of a saved result; None if both are
    supported.

    Only the major version must be the same as that of the installed lasthop. A result without
    `format` has format 1.
    """
    version = tree.get("version")
    if not isinstance(version, str):
        return "no answer of lasthop: it has no `version`"
    if (fault := fault_in_format(tree)) is not None:
        return fault
    if version.partition(".")[0] == _core.VERSION.partition(".")[0]:
        return None
    return (
        f"written by lasthop {version[:20]}, whose major version differs from that of "
        f"{_core.VERSION}"
    )


def fault_in_format(tree: Mapping[str, Any]) -> str | None:
    """Return a description of an error in the format of a saved result; None if it is supported."""
    written = tree.get("format", 1)
    if not isinstance(written, int) or isinstance(written, bool) or written < 1:
        return f"`format`: {json.dumps(written)} is not a format: expected {_core.FORMAT}"
    if written > _core.FORMAT:
        return (
            f"`format`: {written} is newer than this version of lasthop supports: expected "
            f"{_core.FORMAT}: update lasthop"
        )
    return None


def fault_in_record(record: Mapping[str, Any]) -> str | None:
    """Return a description of the first error in a simulation's record; None if there is none."""
    if (wrong := fault_in_version(record)) is not None:
        return wrong
    if not isinstance(record.get("interrupted"), bool):
        return "`interrupted` is missing or damaged"
    if not _are_samples(record.get("samples")):
        return "`samples` is missing or damaged"
    if "halves" not in record or not isinstance(record["halves"], Mapping | None):
        return "`halves` is missing or damaged"
    if "series" not in record or not _are_series(record["series"]):
        return "`series` is missing or damaged"
    if not _are_distributions(record.get("distributions", [])):
        return "`distributions` are damaged"
    return None


def _are_samples(samples: Any) -> bool:
    """Return whether the samples are nested mappings: values by list, item name and quantity."""
    try:
        every = [
            values
            for items in samples.values()
            for quantities in items.values()
            for values in quantities.values()
        ]
    except AttributeError:
        return False
    return all(_are_numbers(values) for values in every)


def _are_series(series: Any) -> bool:
    """Return whether the time series are None, or times and tracks with one value per time."""
    if series is None:
        return True
    try:
        times, tracks = series["time_s"], series["tracks"]
        named = all(
            isinstance(track[key], str) for track in tracks for key in ("list", "name", "quantity")
        )
        every = [track["values"] for track in tracks]
    except (TypeError, KeyError):
        return False
    fits = all(_are_numbers(values) and len(values) == len(times) for values in every)
    return named and _are_numbers(times) and fits


def _are_distributions(distributions: Any) -> bool:
    """Return whether each distribution has histogram counts, and one more bin edge than counts."""
    try:
        return all(
            all(isinstance(each[key], str) for key in ("list", "name", "quantity"))
            and _are_numbers(each["edges_s"])
            and _are_numbers(each["counts"])
            and len(each["edges_s"]) == len(each["counts"]) + bool(each["counts"])
            for each in distributions
        )
    except (TypeError, KeyError):
        return False


def _are_numbers(values: Any) -> bool:
    """Return whether a value is a list whose items are numbers or null."""
    return isinstance(values, list) and all(
        value is None or isinstance(value, NUMBER) for value in values
    )


def _faults(summary: Any) -> Iterator[str]:
    if not isinstance(summary, Mapping):
        yield "no answer of lasthop: it is no JSON object"
        return
    wrong = fault_in_version(summary)
    if wrong is not None:
        yield wrong
    is_run = summary.get("kind") != "prediction"
    needed = {**NEEDED, **(OF_RUNS if is_run else {"model": (str,)})}
    for key, kinds in needed.items():
        if not isinstance(summary.get(key), kinds):
            yield f"incomplete answer: `{key}` is missing or no {kinds[0].__name__}"
    for name in LISTS:
        items = summary.get(name, [])
        if not isinstance(items, list):
            yield f"incomplete answer: `{name}` is no list"
            continue
        for item in items:
            if not isinstance(item, Mapping) or not isinstance(item.get("name"), str):
                yield f"incomplete answer: an item of `{name}` has no name"
                continue
            for quantity, value in item.items():
                if isinstance(value, Mapping) and not _is_value(value):
                    yield f"incomplete answer: `{quantity}` of {name} {item['name']} is no estimate"


def _is_value(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is an estimate or a complex number."""
    for keys in (("mean", "ci95"), ("real", "imag")):
        if value.keys() == set(keys):
            return all(value[key] is None or isinstance(value[key], NUMBER) for key in keys)
    return False
