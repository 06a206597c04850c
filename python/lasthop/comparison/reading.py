"""Functions that read saved comparisons."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lasthop.answers.envelope import fault_in_format
from lasthop.answers.reading import SUMMARY_ONLY, WRONG_SHAPE, summary_of
from lasthop.comparison.compare import Comparison, Row
from lasthop.emulated.reading import read_emulation
from lasthop.errors import UserError
from lasthop.prediction.prediction import read_prediction
from lasthop.simulation.reading import result_of_summary

__all__ = ["read_comparison"]


def read_comparison(file: Path, text: str, tree: Mapping[str, Any]) -> Comparison:
    """Return the comparison in a file; its prediction and simulation have only summaries."""
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
    simulated = summary_of(file, parts["simulation"])
    return Comparison(
        None if predicted is None else read_prediction(file, text, predicted),
        parts["refusal"],
        result_of_summary(
            file, json.dumps(simulated, indent=2, ensure_ascii=False) + "\n", SUMMARY_ONLY
        ),
        None if emulated is None else read_emulation(file, text, emulated),
        loaded=rows,
    )
