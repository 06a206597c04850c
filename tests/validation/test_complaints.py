"""lasthop accepts all scenarios of the complaints, and the index lists all of them."""

import json
from pathlib import Path

from lasthop.explanation.objectives import objective_for
from lasthop.scenario.scenario import Scenario

COMPLAINTS = Path(__file__).parent / "complaints"


def test_each_complaint_is_a_scenario_with_an_objective() -> None:
    entries = json.loads((COMPLAINTS / "index.json").read_text("utf-8"))
    assert [entry["file"] for entry in entries] == sorted(
        path.name for path in COMPLAINTS.glob("*.toml")
    )
    for entry in entries:
        scenario = Scenario(COMPLAINTS / entry["file"])
        assert objective_for(scenario, entry["objective"], None) is not None
