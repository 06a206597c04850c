"""Repeat every experiment of the papers, store its results, and judge the claims.

``python docs/claims.py`` reproduces all claims in about an hour of CPU time. It writes
``reference/claims.json``, from which `make docs-pages` makes the tables of verdicts. It also writes
``reference/claims-samples.json.gz``, which contains the values that the studies read from the
result of every run. Finished runs are stored in ``out/claims``. After Ctrl-C, the script continues
from there. ``python docs/claims.py SUBJECT`` repeats one subject and does not change the others.
``python docs/claims.py --study red-fig17 --study red-fig19`` repeats these studies, and judges the
claims that depend on them again. ``python docs/claims.py --judge`` judges all claims again from the
stored values, without simulations.
"""

import argparse
import gzip
import json
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from lasthop._core import VERSION
from lasthop.cli.progress import batch_bar
from lasthop.studies import findings, kept, ledger
from lasthop.studies.reproduction import SUBJECTS_STUDIED, Reproduction, studies_of, task
from lasthop.studies.runner import Plan
from lasthop.studies.study import Runs, Study

REFERENCE = Path(__file__).resolve().parent / "reference"
KEPT = REFERENCE / "claims.json"
SAMPLES = REFERENCE / "claims-samples.json.gz"
OUT = REFERENCE.parents[1] / "out" / "claims"


def load() -> Any:
    """Return the stored results: version, date, claims with their verdicts, values of the
    studies.
    """
    return json.loads(KEPT.read_text("utf-8"))


def samples() -> Any:
    """Return the values that the studies read from the result of every run, keyed by the
    fingerprint of the scenario.
    """
    return json.loads(gzip.decompress(SAMPLES.read_bytes()))


def write(done: Reproduction) -> None:
    """Store the reproduction of all claims."""
    _put(kept.keep(done.studies, done.runs, done.results), {})


def write_subject(subject: str, done: Reproduction) -> None:
    """Store the reproduction of one subject. Stored results of other subjects stay unchanged."""
    previous, some = load(), kept.keep(done.studies, done.runs, done.results)
    studies = {
        key: study
        for key, study in previous["studies"].items()
        if key.rpartition("-")[0] != subject
    }
    claims = {claim["id"]: claim for claim in [*previous["claims"], *some["claims"]]}
    read = {print_ for study in studies.values() for print_ in study["points"].values()}
    document = {
        "runs": {key: run for key, run in samples().items() if key in read} | some["runs"],
        "studies": studies | some["studies"],
        "claims": [claims[claim.id] for claim in done.ledger.claims],
    }
    others = {
        key: ran
        for key, ran in previous.get("apart", {}).items()
        if key.rpartition("-")[0] != subject
    }
    _put(document, {"apart": others | {subject: _now()}}, previous)


def write_studies(studies: Sequence[Study], runs: dict[str, Runs]) -> None:
    """Store the results of some studies, and judge the claims that depend on these studies. Other
    claims stay unchanged.
    """
    previous, some = load(), kept.keep(studies, runs, ())
    document = {
        "runs": with_values_of_other_studies(samples(), some["runs"]),
        "studies": previous["studies"] | some["studies"],
        "claims": previous["claims"],
    }
    read = {print_ for each in document["studies"].values() for print_ in each["points"].values()}
    document["runs"] = {key: run for key, run in document["runs"].items() if key in read}
    values = kept.values_of(document)
    ledger_ = ledger.load()
    rerun = {study.key for study in studies}
    by_study = [findings.of(study, runs[study.key]) for study in studies]
    before = {claim["id"]: claim for claim in previous["claims"]}
    for claim in ledger_.claims:
        if rerun.isdisjoint(f"{claim.subject}-{name}" for name in claim.studies()):
            continue
        new = [each[claim.id] for each in by_study if claim.id in each]
        why = before[claim.id]["why"] if claim.id in before else ""
        old_findings = _others(why, rerun)
        result = claim.result(values[claim.subject], ledger_.rules, findings=[*old_findings, *new])
        before[claim.id] = {**result.to_json(), "statement": claim.text}
    document["claims"] = [before[claim.id] for claim in ledger_.claims if claim.id in before]
    _put(
        document,
        {"apart": previous.get("apart", {}) | {key: _now() for key in sorted(rerun)}},
        previous,
    )


def judge() -> None:
    """Judge all claims again from the stored values and findings, without simulations."""
    previous = {**load(), "runs": samples()}
    values, ledger_ = kept.values_of(previous), ledger.load()
    before = {claim["id"]: claim for claim in previous["claims"]}
    judged = []
    for claim in ledger_.claims:
        why = before[claim.id]["why"] if claim.id in before else ""
        findings_ = [*_others(why, set())]
        result = claim.result(values[claim.subject], ledger_.rules, findings=findings_)
        judged.append({**result.to_json(), "statement": claim.text})
    document = {key: previous[key] for key in ("runs", "studies")}
    _put({**document, "claims": judged}, {"apart": previous.get("apart", {})}, previous)


def messages(document: Any) -> list[dict[str, Any]]:
    """Judge the papers' messages from the stored values."""
    values, ledger_ = kept.values_of(document), ledger.load()
    return [each.to_json(values.get(each.subject, {}), ledger_.rules) for each in ledger_.messages]


def with_values_of_other_studies(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the old runs, updated with the new runs. If the new runs repeat an old run and lack
    some of its values, these values are kept, because other studies need them.

    Raises
    ------
    SystemExit
        If a repeated run has changed a value of the old run, and lacks other values of it. All
        studies that use this run must then be repeated.
    """
    merged = dict(old)
    for key, run in new.items():
        both, differs = _filled(old.get(key, {}), run)
        if differs and both != run:
            raise SystemExit(
                f"run {key} has changed, and other studies read more of it: repeat all"
            )
        merged[key] = both
    return merged


def _filled(old: Any, new: Any) -> tuple[Any, bool]:
    """Return the new tree, completed with parts that only the old tree has. Also return whether the
    common parts differ.
    """
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new, old != new
    parts = {key: _filled(old[key], new[key]) for key in old.keys() & new.keys()}
    merged = {key: parts[key][0] if key in parts else new[key] for key in new}
    return old | merged, any(differs for _, differs in parts.values())


def _others(why: str, rerun: set[str]) -> Iterator[str]:
    """Yield causes and findings of a verdict that do not come from the studies in `rerun`."""
    for line in why.splitlines():
        lead, _, text = line.partition(": ")
        if lead in ("cause", "found") and not any(f"(study {key}," in text for key in rerun):
            yield text


def _now() -> dict[str, str]:
    return {"version": VERSION, "date": date.today().isoformat()}


def _put(document: dict[str, Any], apart: dict[str, Any], previous: Any = None) -> None:
    document = {"studies": document["studies"], "messages": messages(document), **document}
    runs = json.dumps(document.pop("runs"), ensure_ascii=False, sort_keys=True)
    SAMPLES.write_bytes(gzip.compress(runs.encode(), mtime=0))
    head = _now() if previous is None else {key: previous[key] for key in _now()}
    text = json.dumps({**head, **apart, **document}, ensure_ascii=False, indent=1)
    KEPT.write_text(text + "\n", "utf-8")


def main() -> None:
    """Reproduce all claims, or the claims of one subject, and store the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = [study for subject in SUBJECTS_STUDIED for study in studies_of(subject)]
    studies_by_key = {study.key: study for study in every}
    parser.add_argument("subject", nargs="?", choices=SUBJECTS_STUDIED)
    parser.add_argument("--study", action="append", choices=studies_by_key, metavar="KEY")
    parser.add_argument("--judge", action="store_true")
    asked = parser.parse_args()
    if sum(map(bool, (asked.subject, asked.study, asked.judge))) > 1:
        parser.error("a subject, --study and --judge: expected one of them")
    if asked.judge:
        judge()
        print(KEPT, SAMPLES, sep="\n")
        return
    if asked.study:
        studies = [studies_by_key[key] for key in dict.fromkeys(asked.study)]
        with batch_bar("reproducing") as progress:
            write_studies(studies, Plan(studies).run(OUT, progress))
        print(KEPT, SAMPLES, sep="\n")
        return
    subject = asked.subject
    with batch_bar("reproducing") as progress:
        done = task([subject] if subject else [], quick=False).run(OUT, progress)
    if subject:
        write_subject(subject, done)
    else:
        write(done)
    print(KEPT, SAMPLES, sep="\n")


if __name__ == "__main__":
    main()
