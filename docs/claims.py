"""Repeats every experiment of the papers, keeps what it gave, and judges it.

``python docs/claims.py`` reproduces all claims, in an hour or so of processor time, and writes
``reference/claims.json``, from which the tables of verdicts come (`make docs-pages`), and
``reference/claims-samples.json.gz``, what measures read of every run. Finished runs are kept in
``out/claims``; after Ctrl-C it goes on from there. ``python docs/claims.py SUBJECT`` repeats one
subject and leaves the others as they are kept.
"""

import argparse
import gzip
import json
from datetime import date
from pathlib import Path
from typing import Any

from lasthop._core import VERSION
from lasthop.cli.progress import batch_bar
from lasthop.studies import kept
from lasthop.studies.reproduction import SUBJECTS_STUDIED, Reproduction, task

REFERENCE = Path(__file__).resolve().parent / "reference"
KEPT = REFERENCE / "claims.json"
SAMPLES = REFERENCE / "claims-samples.json.gz"
OUT = REFERENCE.parents[1] / "out" / "claims"


def load() -> Any:
    """The kept run: version, date, claims with their verdicts, values of the studies."""
    return json.loads(KEPT.read_text("utf-8"))


def samples() -> Any:
    """What measures read of every run, by fingerprints of the scenarios."""
    return json.loads(gzip.decompress(SAMPLES.read_bytes()))


def write(done: Reproduction) -> None:
    """Keep a reproduction of all claims."""
    _put(kept.keep(done.studies, done.runs, done.results), {})


def write_subject(subject: str, done: Reproduction) -> None:
    """Keep a reproduction of one subject beside what is kept of the others."""
    was, some = load(), kept.keep(done.studies, done.runs, done.results)
    studies = {
        key: study for key, study in was["studies"].items() if key.partition("-")[0] != subject
    }
    claims = {one["id"]: one for one in [*was["claims"], *some["claims"]]}
    read = {print_ for study in studies.values() for print_ in study["points"].values()}
    whole = {
        "runs": {key: run for key, run in samples().items() if key in read} | some["runs"],
        "studies": studies | some["studies"],
        "claims": [claims[one.id] for one in done.ledger.claims],
    }
    _put(whole, {"apart": was.get("apart", {}) | {subject: _now()}}, was)


def _now() -> dict[str, str]:
    return {"version": VERSION, "date": date.today().isoformat()}


def _put(whole: dict[str, Any], apart: dict[str, Any], was: Any = None) -> None:
    runs = json.dumps(whole.pop("runs"), ensure_ascii=False, sort_keys=True)
    SAMPLES.write_bytes(gzip.compress(runs.encode(), mtime=0))
    head = _now() if was is None else {key: was[key] for key in _now()}
    text = json.dumps({**head, **apart, **whole}, ensure_ascii=False, indent=1)
    KEPT.write_text(text + "\n", "utf-8")


def main() -> None:
    """Reproduce all claims, or those of a subject, and keep them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("subject", nargs="?", choices=SUBJECTS_STUDIED)
    subject = parser.parse_args().subject
    with batch_bar("reproducing") as progress:
        done = task([subject] if subject else [], quick=False).run(OUT, progress)
    if subject:
        write_subject(subject, done)
    else:
        write(done)
    print(KEPT, SAMPLES, sep="\n")


if __name__ == "__main__":
    main()
