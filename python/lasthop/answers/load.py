"""Reading of results that were saved, or printed as JSON."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from lasthop.answers.kinds import KINDS
from lasthop.answers.reading import short, text_of, tree_of
from lasthop.answers.record import KIND
from lasthop.answers.saving import RESULT_FILE
from lasthop.errors import UserError
from lasthop.references import named

if TYPE_CHECKING:
    from lasthop.comparison.compare import Comparison
    from lasthop.emulated.emulation import Emulation
    from lasthop.prediction.prediction import Prediction
    from lasthop.simulation.result import Result
    from lasthop.sweep import Sweep
    from lasthop.whatif import WhatIf

__all__ = ["Loaded", "load"]

Loaded: TypeAlias = "Result | Prediction | Emulation | Comparison | Sweep | WhatIf"
"""Types of results that `load` can return."""

READERS = {name: reader for kind in KINDS for name, reader in kind.readers.items()}
"""References to the functions that read a saved result, by the ``kind`` in its JSON."""

CLASSES = {kind.name: kind.answer.partition(":")[2] for kind in KINDS}
"""Names of the classes of results, by the ``kind`` in their JSON."""


def load(path: str | PathLike[str]) -> Loaded:
    """Read a result that was saved, or printed as JSON.

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
        scenario, samples, series and warnings. A result from JSON has only its summary: it has
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
        raise UserError(f"{short(str(path))}: {error.strerror or error}") from None
    text = text_of(file)
    tree = tree_of(file, text)
    kind = tree.get("kind")
    if isinstance(kind, str) and kind in READERS:
        answer: Loaded = named(READERS[kind])(file, text, tree)
        return answer
    known = ", ".join(READERS)
    if kind == KIND:
        raise UserError(
            f"{file}: belongs to {RESULT_FILE} in the same directory: load {RESULT_FILE}"
        )
    if isinstance(kind, str) and kind in CLASSES:
        name = CLASSES[kind]
        raise UserError(
            f"{file}: `kind` is {short(kind)}, which cannot be read from its JSON; expected one of "
            f"{known}",
            f"to read an object of the class {name} again in Python, save it by pickle",
        )
    what = "it has no `kind`" if kind is None else f"`kind` is {short(kind)}"
    raise UserError(f"{file}: no answer of lasthop: {what}; expected one of {known}")


def _answer_in(directory: Path) -> Path:
    """Return the path of the file to read in the directory of a saved result."""
    files = [kind.file for kind in KINDS if kind.file]
    present = [directory / name for name in files if (directory / name).is_file()]
    if len(present) == 1:
        return present[0]
    if present:
        names = " and ".join(path.name for path in present)
        raise UserError(f"{directory}: has {names}", f"name the file: {present[0]}")
    absent = f"no {', no '.join(files[:-1])} and no {files[-1]}"
    raise UserError(
        f"{directory}: the directory has {absent}",
        "expected a directory that save of a Result, a Sweep or a WhatIf has written",
    )
