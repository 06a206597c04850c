"""Print fingerprints of the outputs of studies and ledger. Equal fingerprints with and without a
fault prove that the fault changes nothing.

    PYTHONPATH=TREE/python python tests/mutations/outputs.py FILE [STRUCTURES]

The program prints a JSON object with fingerprints. They cover the parsed ledger and each study that
FILE concerns: its scenarios (full and quick, normalised), its measurements and findings, and the
verdicts. The object also has the numbers of the lines of FILE that ran while these outputs were
computed. With ``--structures SUBJECT INTO`` the program prints nothing. It writes the file
STRUCTURES for the studies of SUBJECT, under the name INTO.

Measurements are computed from made-up runs. If the stored reproduction `KEPT` has runs of a study,
measurements are computed from these runs too. A made-up run has the names of the lists, items and
quantities of a real run. The file STRUCTURES contains these names, which `structures` finds by
short runs of the tree without a fault. The numbers of a made-up run are random. They have one of
four distributions, called `WORLDS`. In two worlds all numbers differ, in the third many are equal
or zero, in the fourth some are missing.

The proof is complete for scenarios and for the ledger, which have no input: all their content is
compared. For measures it is a proof by data. A fault counts as without effect only if its line ran
and every output was equal in every world and for the numbers of `KEPT`. Outputs are compared to
eleven digits, because the last digits depend on the order of sums. For rules, which accept any
numbers, data prove nothing: see `mutations.py`.
"""

import gzip
import hashlib
import json
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from types import FrameType
from typing import Any

KEPT = Path("docs/reference/claims.json")
SAMPLES = Path("docs/reference/claims-samples.json.gz")
"""File with the samples of a full run, which is part of the repository (see
`lasthop.studies.kept`).
"""

Structure = Mapping[str, Any]
"""Names of the values in a result: the quantities of each item of each list, and the time series
(called tracks), with the times of their samples.
"""

SECONDS = (1, 20, 200)
"""Durations of the short runs from which a structure is read. The shortest duration that the
scenario permits is used. A duration is not permitted if an event of the scenario is later. [s]
"""
REPLICATIONS = 3


def structures(subject: str, into: Path) -> None:
    """Write the structures of a subject's scenarios, keyed by `Scenario.key`. Short runs determine
    them.
    """
    from lasthop.scenario.scenario import Scenario
    from lasthop.studies.reproduction import studies_of

    by_key: dict[str, Structure] = {}
    for study in studies_of(subject):
        for each in (study, study.shortened(0.3)):
            for tree in each.points.values():
                scenario = Scenario(tree)
                if scenario.key not in by_key:
                    by_key[scenario.key] = _structure(tree, scenario)
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_bytes(gzip.compress(json.dumps(by_key).encode()))


def _structure(tree: Mapping[str, Any], scenario: Any) -> Structure:
    import lasthop as lh

    for seconds in SECONDS:
        short = {**tree, "duration": f"{seconds}.5 s", "warmup": "0 s", "replications": 1}
        with suppress(lh.ScenarioError):
            result = lh.simulate(short)
            break
    else:
        result = lh.simulate({**tree, "replications": 1})
    lists: dict[str, dict[str, list[str]]] = {}
    rows: Iterable[Any] = result.samples.itertuples(index=False)
    for row in rows:
        lists.setdefault(row.list, {}).setdefault(row.name, []).append(row.quantity)
    keys = ["list", "name", "quantity"]
    series: Any = result.series
    tracks = [] if series.empty else list(series.groupby(keys, sort=False).groups)
    length_s = scenario["duration_s"]
    times = [round(length_s * k / 400, 9) for k in range(1, 401)] if tracks else []
    return {"lists": lists, "tracks": [list(track) for track in tracks], "times": times}


def _generic(draw: random.Random, size: int, name: str) -> list[float]:
    return [draw.uniform(0.05, 0.95) for _ in range(size)]


def _larger(draw: random.Random, size: int, name: str) -> list[float]:
    return [draw.uniform(0.5, 20.0) for _ in range(size)]


def _tied(draw: random.Random, size: int, name: str) -> list[float]:
    return [float(draw.randrange(3)) for _ in range(size)]


def _lacking(draw: random.Random, size: int, name: str) -> list[float]:
    return [float("nan") if draw.random() < 0.1 else draw.uniform(0.1, 9.0) for _ in range(size)]


World = Callable[[random.Random, int, str], list[float]]
WORLDS: Mapping[str, World] = {
    "generic": _generic,
    "larger": _larger,
    "tied": _tied,
    "lacking": _lacking,
}
"""Functions that return the random numbers of made-up runs. A function gets a random generator, the
number of values, and the name of the quantity. In `generic` and `larger` all numbers differ, in
`tied` many numbers are equal or zero, and in `lacking` some are missing.
"""


def made_up(key: str, structure: Structure, world: str, scenario: Any, replications: int) -> Any:
    """Return a made-up run that has random numbers under the names of `structure`. `world` is the
    distribution of the numbers (see `WORLDS`), and `key` identifies the scenario. The random
    generator of a quantity is seeded by `world`, `key` and the name of the quantity.
    """
    from lasthop.studies.study import Run

    def numbers(*name: str, size: int = replications) -> list[float]:
        return WORLDS[world](random.Random(f"{world} {key} {name}"), size, name[-1])

    lists = structure["lists"]
    samples = {
        part: {
            item: {name: numbers(part, item, name) for name in names}
            for item, names in items.items()
        }
        for part, items in lists.items()
    }
    predicted = world != "larger"
    prediction = {
        part: {
            item: {name: numbers("predicted", part, item, name, size=1)[0] for name in names}
            for item, names in items.items()
        }
        for part, items in lists.items()
        if predicted
    }
    tracks = [
        {"list": part, "name": item, "quantity": name, "values": values}
        for part, item, name in structure["tracks"]
        for values in [numbers("track", part, item, name, size=len(structure["times"]))]
    ]
    series = {"time_s": structure["times"], "tracks": tracks}
    return Run(samples, prediction, ("a remark",), series, scenario)


@cache
def stored_run() -> Mapping[str, Any]:
    """Return the samples of the full run in the repository, or nothing if there are none."""
    if not KEPT.exists():
        return {}
    runs = json.loads(gzip.decompress(SAMPLES.read_bytes()))
    return {**json.loads(KEPT.read_text("utf-8")), "runs": runs}


def stored_runs_of(study: Any) -> Mapping[str, Any] | None:
    """Return the runs of a study in the repository, or None if there are none."""
    from lasthop.studies.kept import runs_of

    return runs_of(study, stored_run()) if study.key in stored_run().get("studies", {}) else None


def all_studies() -> Iterator[Any]:
    """Yield the studies of all subjects."""
    from lasthop.studies.reproduction import SUBJECTS_STUDIED, studies_of

    for subject in SUBJECTS_STUDIED:
        yield from studies_of(subject)


def outputs(known: Mapping[str, Structure], wanted: Callable[[Any], bool]) -> dict[str, str]:
    """Return fingerprints of all outputs, keyed by the kind of output."""
    from lasthop.studies import ledger

    book = ledger.load()
    written = {"ledger": _fingerprint(repr(book))}
    for study in filter(wanted, all_studies()):
        for form, version in (("full", study), ("quick", study.shortened(0.3))):
            written[f"{study.key} {form}"] = "; ".join(_of_study(version, known, book))
    return written


def _of_study(study: Any, known: Mapping[str, Structure], book: Any) -> Iterator[str]:
    from lasthop.scenario.scenario import Scenario

    scenarios = {point: Scenario(tree) for point, tree in study.points.items()}
    yield _fingerprint(*scenarios, *(scenario.to_json() for scenario in scenarios.values()))
    if any(scenario.key not in known for scenario in scenarios.values()):
        yield "other scenarios"
        return
    worlds = {
        world: {
            point: made_up(scenario.key, known[scenario.key], world, scenario, REPLICATIONS)
            for point, scenario in scenarios.items()
        }
        for world in (WORLDS if scenarios else list(WORLDS)[:1])
    }
    if (real := stored_runs_of(study)) is not None:
        worlds["kept"] = dict(real)
    for world, runs in worlds.items():
        yield f"{world} {_fingerprint(*_as_text(study, runs, book))}"


def _as_text(study: Any, runs: Any, book: Any) -> Iterator[str]:
    """Yield measurements, findings and verdicts of a study as text. A failure is yielded as text,
    too.
    """
    values = {}
    try:
        for name, quantity in study.measure(runs).items():
            numbers = [*quantity.samples.ravel(), quantity.predicted]
            yield f"{name} {[None if number is None else f'{number:.11g}' for number in numbers]}"
        values = study.values(runs)
    except Exception as error:
        yield repr(error)
    try:
        yield repr(study.findings(runs))
    except Exception as error:
        yield repr(error)
    for claim in book.select([study.subject]):
        for quick in (False, True):
            try:
                text = json.dumps(claim.result(values, book.rules, quick=quick).to_json())
                yield repr(json.loads(text, parse_float=lambda digits: f"{float(digits):.11g}"))
            except Exception as error:
                yield repr(error)


def _fingerprint(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def ran(file: str) -> set[int]:
    """Start to record which lines of a file run. Return the set that collects their numbers."""
    lines: set[int] = set()

    def inside(frame: FrameType, event: str, argument: object) -> Any:
        lines.add(frame.f_lineno)
        return inside

    def call(frame: FrameType, event: str, argument: object) -> Any:
        return inside if frame.f_code.co_filename.endswith(file) else None

    sys.settrace(call)
    return lines


def concerned(file: str) -> Callable[[Any], bool]:
    """Return a function that says whether a change of `file` can affect a study. Only studies of
    the file's subject can be affected, and those of subjects whose modules import from it.

    A change of the ledger affects no study.
    """
    folder, _, name = file.removeprefix("python/lasthop/").rpartition("/")
    subject = folder.removeprefix("studies/")
    if name == "claims.toml":
        return lambda study: False
    studies = Path(str(resources.files("lasthop.studies")))
    affected = {
        path.parent.name
        for path in studies.glob("*/*.py")
        if f"studies.{subject}" in path.read_text("utf-8")
    }
    return lambda study: study.subject.replace("-", "_") in {subject, *affected}


def main() -> None:
    """Print the outputs of the lasthop package on the import path."""
    file, *rest = sys.argv[1:]
    if file == "--structures":
        subject, into = rest
        structures(subject, Path(into))
        return
    lines = ran(file)
    known = json.loads(gzip.decompress(Path(rest[0]).read_bytes())) if rest else {}
    print(json.dumps({"outputs": outputs(known, concerned(file)), "ran": sorted(lines)}))


if __name__ == "__main__":
    main()
