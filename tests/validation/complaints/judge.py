"""Compares `lasthop explain` with simulations of sixty scenarios. The scenarios were written by a
network engineer who did not know the table of causes.

    python tests/validation/complaints/judge.py [PART/PARTS]

`index.json` has the objective of each scenario, and the engineer's assumption about the cause. The
rules were fixed before the first run:

- The candidates are all edits that, according to the table of causes, remove a cause in the
  finished run.
- The truth is the candidate with the largest mean paired gain over 20 seeds that `explain` has not
  used. There is no truth if no candidate is better than the scenario at 95 % confidence.
- `explain` is right if its first cause is the truth. If there is no truth, it is right if it names
  no cause, or reports that the objective is met.
- A suggestion fails if it is not better than the scenario at 95 % confidence with the 20 seeds.

The script prints one line of JSON per scenario. It takes about 40 minutes of CPU time.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from lasthop.batch.paired import judge, run
from lasthop.explanation.run import explain
from lasthop.scenario.scenario import Scenario

HERE = Path(__file__).parent

FRESH = [("seed", 987_654), ("replications", 20)]
"""Settings of the simulations that determine the correct cause."""


def judged(file: str, objective: str) -> dict[str, Any]:
    """Return the answer of `explain` for a scenario, and the result of the simulations."""
    explanation = explain(HERE / file, objective=objective, jobs=1)
    scenarios = {each.name: Scenario(each.scenario, FRESH) for each in explanation.candidates}
    for each in explanation.suggestions:
        candidate = each.candidate
        scenarios.setdefault(candidate.name, Scenario(candidate.scenario, FRESH))
    gains: dict[str, tuple[float, str]] = {}
    base: list[float] = []
    if scenarios:
        pairs = run(Scenario(explanation.scenario, FRESH), scenarios, jobs=1)
        base = [*explanation.objective.values(pairs.base)]
        for name, result in pairs.cases.items():
            values = explanation.objective.values(result)
            judgement = judge(base, values, explanation.objective.direction, confidence=0.95)
            gains[name] = explanation.objective.direction * judgement.mean, judgement.verdict
    ranked = sorted(
        (each.name for each in explanation.candidates), key=lambda name: -gains[name][0]
    )
    truth = next((name for name in ranked[:1] if gains[name][1] == "better"), None)
    first = explanation.causes[0].candidate.name if explanation.causes else None
    return {
        "file": file,
        "objective": objective,
        "verdict": explanation.verdict,
        "first": first,
        "truth": truth,
        "right": first == truth,
        "base": fmean(base) if base else None,
        "ranked": [[name, *gains[name]] for name in ranked[:4]],
        "suggestions": [
            [each.candidate.name, *gains[each.candidate.name]] for each in explanation.suggestions
        ],
    }


def part_of(words: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the entries of the index that belong to a part such as ``0/2``."""
    part, parts = (int(word) for word in (words or ["0/1"])[0].split("/"))
    entries = json.loads((HERE / "index.json").read_text("utf-8"))
    yield from entries[part::parts]


if __name__ == "__main__":
    for entry in part_of(sys.argv[1:]):
        print(json.dumps(judged(entry["file"], entry["objective"])), flush=True)
