"""Answers read from files that were saved or printed as JSON."""

import json
import warnings
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from lasthop import _core
from lasthop.answers.envelope import fault_in, fault_in_format, fault_in_record, fault_in_version
from lasthop.answers.record import KIND, Kept, SummaryAlone, seal_of
from lasthop.answers.saving import MANIFEST, RECORD_FILE, RESULT_FILE
from lasthop.batch import Parts
from lasthop.batch.part import packed
from lasthop.comparison.compare import Comparison, Row
from lasthop.errors import ScenarioError, UserError
from lasthop.scenario.origin import scenario_of
from lasthop.scenario.scenario import Scenario
from lasthop.simulation.result import Prediction, Result
from lasthop.sweep import Sweep
from lasthop.sweep.grid import Grid
from lasthop.sweep.manifest import grid_of
from lasthop.sweep.points import Points
from lasthop.whatif.what_if import FILE, WhatIf, of_tree

if TYPE_CHECKING:
    from lasthop.emulation import Emulation

__all__ = ["Loaded", "load"]

Loaded: TypeAlias = "Result | Prediction | Emulation | Comparison | Sweep | WhatIf"

ALONE = "only a summary was loaded"
"""Why what was read from a summary lacks the rest."""

WRONG_SHAPE = (KeyError, TypeError, ValueError, AttributeError)
"""Exceptions that are raised when a tree of another shape is read."""


def load(path: str | PathLike[str]) -> Loaded:
    """Read an answer that was saved, or printed as JSON.

    Parameters
    ----------
    path : str or path
        Directory that `Result.save`, `Sweep.save` or `WhatIf.save` wrote, or that a command wrote
        with ``--out``. Alternatively a file with the output of `to_json`, or of a command with
        ``--json``: of a simulation, a prediction, an emulation, a comparison, a sweep or a what-if.

    Returns
    -------
    Result, Prediction, Emulation, Comparison, Sweep or WhatIf
        A result from a directory, a sweep, or a what-if is equal to the saved result, with
        scenario, samples, series and warnings. An answer from JSON has only its summary: it has
        tables, but no samples, series or scenario. Attributes and methods that need the missing
        parts raise a `UserError`.

    Raises
    ------
    UserError
        If the result does not exist, if the file is incomplete, or if another major version of
        lasthop wrote the file.

    Warns
    -----
    RuntimeWarning
        If this version interprets the scenario differently from the version that simulated it, or
        if parts of a sweep are damaged.

    Examples
    --------
    >>> import tempfile
    >>> import lasthop as lh
    >>> result = lh.simulate(
    ...     {"duration": "2 s", "cell": {"phy": "802.11b"}, "station": {"reader": {"download": 1}}}
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = result.save(folder)
    ...     again = lh.load(folder)
    >>> again == result
    True
    >>> again.scenario["duration_s"]
    2.0
    """
    place = Path(path)
    if not str(path).strip():
        raise UserError(f'"{path}": the name is empty')
    try:
        file = _answer_in(place) if place.is_dir() else place
    except OSError as error:
        raise UserError(f"{_short(str(path))}: {error.strerror or error}") from None
    text = _text(file)
    tree = _tree(file, text)
    kind = tree.get("kind")
    reader = READERS.get(kind) if isinstance(kind, str) else None
    if reader is not None:
        return reader(file, text, tree)
    known = ", ".join(READERS)
    if kind == KIND:
        raise UserError(
            f"{file}: belongs to {RESULT_FILE} in the same directory: load {RESULT_FILE}"
        )
    if kind == "tuning":
        raise UserError(
            f"{file}: a Tuning cannot be read from its JSON", "save the Tuning by pickle"
        )
    what = "it has no `kind`" if kind is None else f"`kind` is {_short(kind)}"
    raise UserError(f"{file}: no answer of lasthop: {what}; expected one of {known}")


def _answer_in(directory: Path) -> Path:
    """The file in a directory that is to be read."""
    found = [
        directory / name for name in (RESULT_FILE, MANIFEST, FILE) if (directory / name).is_file()
    ]
    if len(found) == 1:
        return found[0]
    if found:
        names = " and ".join(each.name for each in found)
        raise UserError(f"{directory}: has {names}", f"name the file: {found[0]}")
    raise UserError(
        f"{directory}: the directory has no {RESULT_FILE}, no {MANIFEST} and no {FILE}",
        "expected a directory that save of a Result, a Sweep or a WhatIf has written",
    )


def _text(file: Path) -> str:
    if not file.exists():
        raise UserError(f"{file}: no such file or directory")
    if not file.is_file():
        raise UserError(f"{file}: neither a file nor a directory")
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError:
        raise UserError(f"{file}: not JSON: it is no text in UTF-8") from None
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None


def _tree(file: Path, text: str) -> Mapping[str, Any]:
    """The JSON object of a file."""
    if not text.strip():
        raise UserError(f"{file}: it is empty")
    try:
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        is_cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        what = "cut short" if is_cut else "not JSON"
        raise UserError(f"{file}: {what}: {error.msg} in line {error.lineno}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file}: not JSON of lasthop: {_short(error)}") from None
    if not isinstance(tree, dict):
        raise UserError(f"{file}: no answer of lasthop: it is no JSON object")
    return tree


def _summary(file: Path, tree: Any) -> Mapping[str, Any]:
    """A summary whose shape is that of an answer."""
    fault = fault_in(tree)
    if fault is not None:
        raise UserError(f"{file}: {fault}")
    known: Mapping[str, Any] = tree
    return known


def _result(file: Path, text: str, tree: Mapping[str, Any]) -> Result:
    _summary(file, tree)
    beside = file.with_name(RECORD_FILE)
    if file.name != RESULT_FILE or not beside.is_file():
        return _alone(file, text, ALONE)
    record = _tree(beside, _text(beside))
    if record.get("kind") != KIND:
        raise UserError(f"{beside}: not the record of a result: its `kind` must be {KIND}")
    if (fault := fault_in_record(record)) is not None:
        raise UserError(f"{beside}: {fault}")
    if record.get("result") != seal_of(text):
        return _alone(file, text, f"{RECORD_FILE} in the same directory is of another result")
    return Result(Kept.of_record(text, record), _scenario(beside, record))


def _alone(file: Path, text: str, why: str) -> Result:
    return Result(SummaryAlone(text, str(file), why), None, origin=str(file), why=why)


def _scenario(file: Path, tree: Mapping[str, Any]) -> Scenario:
    """The scenario of a record or a sweep."""
    try:
        origin = tree["origin"]
        scenario = scenario_of(origin)
    except ScenarioError as error:
        first = str(error).partition("\n")[0]
        message = f"{file}: its scenario is refused by lasthop {_core.VERSION}: {first}"
        raise UserError(message) from None
    except WRONG_SHAPE:
        raise UserError(f"{file}: has no scenario: `origin` is missing or damaged") from None
    if scenario.key != origin.get("key"):
        message = (
            f"{file}: lasthop {_core.VERSION} reads the scenario otherwise than "
            f"{tree.get('version')}, which simulated it: a default has changed"
        )
        warnings.warn(message, RuntimeWarning, stacklevel=4)
    return scenario


def _prediction(file: Path, text: str, tree: Mapping[str, Any]) -> Prediction:
    return Prediction(_summary(file, tree), None, origin=str(file), why=ALONE)


def _emulation(file: Path, text: str, tree: Mapping[str, Any]) -> "Emulation":
    from lasthop.emulation import Emulation

    answer = Emulation(_summary(file, tree), None, origin=str(file), why=ALONE)
    answer.intervals = answer.summary["replications"] > 1
    return answer


def _comparison(file: Path, text: str, tree: Mapping[str, Any]) -> Comparison:
    if (fault := fault_in_format(tree)) is not None:
        raise UserError(f"{file}: {fault}")
    try:
        parts = {part: tree[part] for part in ("prediction", "simulation", "refusal")}
        rows = tuple(
            Row(**{key: value for key, value in row.items() if key != "difference"})
            for row in tree["rows"]
        )
    except WRONG_SHAPE:
        raise UserError(f"{file}: an incomplete comparison: a part is missing") from None
    predicted, emulated = parts["prediction"], tree.get("emulation")
    simulated = _summary(file, parts["simulation"])
    return Comparison(
        None if predicted is None else _prediction(file, text, predicted),
        parts["refusal"],
        _alone(file, json.dumps(simulated, indent=2, ensure_ascii=False) + "\n", ALONE),
        None if emulated is None else _emulation(file, text, emulated),
        loaded=rows,
    )


def _sweep(file: Path, text: str, tree: Mapping[str, Any]) -> Sweep:
    base = _base(file, tree)
    try:
        points = [(dict(point["settings"]), point["result"]) for point in tree["points"]]
        scenarios = [Scenario(base, settings) for settings, _ in points]
        paths = tuple(points[0][0]) if points else ()
        rows = tuple(tuple(settings[path] for path in paths) for settings, _ in points)
        runs = {
            scenario.key: {"summary": json.dumps(_summary(file, summary), ensure_ascii=False)}
            for scenario, (_, summary) in zip(scenarios, points, strict=True)
        }
    except ScenarioError as error:
        first = str(error).partition("\n")[0]
        raise UserError(f"{file}: a point is refused: {first}") from None
    except WRONG_SHAPE:
        raise UserError(f"{file}: an incomplete sweep: `points` is damaged") from None
    keys = [scenario.key for scenario in scenarios]
    return Sweep(base, Points(base, Grid(paths, (rows,)), keys, Parts.of(packed(runs))))


def _manifest(file: Path, text: str, tree: Mapping[str, Any]) -> Sweep:
    base = _base(file, tree)
    try:
        grid, keys = grid_of(tree)
    except (*WRONG_SHAPE, IndexError):
        raise UserError(f"{file}: an incomplete manifest of a sweep: no points") from None
    parts = Parts(file.parent, mend=False)
    for note in parts.notes:
        warnings.warn(note, RuntimeWarning, stacklevel=4)
    if not any(parts.has(key, ("summary",)) for key in keys):
        raise UserError(f"{file}: all its points are missing", *parts.notes[:1])
    return Sweep(base, Points(base, grid, keys, parts))


def _what_if(file: Path, text: str, tree: Mapping[str, Any]) -> WhatIf:
    base = _base(file, tree)
    try:
        return of_tree(base, tree)
    except ValueError as error:
        raise UserError(f"{file}: a damaged what-if: {error}") from None
    except WRONG_SHAPE:
        raise UserError(
            f"{file}: a damaged what-if: a part is missing or has another shape"
        ) from None


def _base(file: Path, tree: Mapping[str, Any]) -> Scenario:
    if (fault := fault_in_version(tree)) is not None:
        raise UserError(f"{file}: {fault}")
    return _scenario(file, tree)


def _short(what: object) -> str:
    """A value as text on a line, not too long."""
    text = " ".join(repr(what).split())
    return text if len(text) <= 60 else f"{text[:60]}..."


READERS: Mapping[str, Callable[[Path, str, Mapping[str, Any]], Loaded]] = {
    "simulation": _result,
    "prediction": _prediction,
    "emulation": _emulation,
    "comparison": _comparison,
    "sweep": _sweep,
    "sweep manifest": _manifest,
    "what-if": _what_if,
}
"""Functions that read an answer, by its ``kind``."""
