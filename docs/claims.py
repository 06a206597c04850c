"""Repeats every experiment of the papers, keeps what it gave, and judges it.

``python docs/claims.py`` reproduces all claims, in an hour or so of processor time, and writes
``reference/claims.json``, from which the tables of verdicts come (`make docs-pages`), and
``reference/claims-samples.json.gz``, what measures read of every run. Finished runs are kept in
``out/claims``; after Ctrl-C it goes on from there.
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
from lasthop.studies.reproduction import Reproduction, task

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
    whole = kept.keep(done.studies, done.runs, done.results)
    runs = json.dumps(whole.pop("runs"), ensure_ascii=False, sort_keys=True)
    SAMPLES.write_bytes(gzip.compress(runs.encode(), mtime=0))
    head = {"version": VERSION, "date": date.today().isoformat()}
    text = json.dumps({**head, **whole}, ensure_ascii=False, indent=1)
    KEPT.write_text(text + "\n", "utf-8")


def main() -> None:
    """Reproduce all claims and keep them."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    with batch_bar("reproducing") as progress:
        write(task([], quick=False).run(OUT, progress))
    print(KEPT, SAMPLES, sep="\n")


if __name__ == "__main__":
    main()
