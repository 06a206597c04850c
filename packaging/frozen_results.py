"""Simulate ten scenarios whose expected results are stored (`crates/engine/tests/frozen`), to
compare the results of two systems.

    frozen_results.py write FOLDER     write NAME.toml and NAME.settings of each scenario
    frozen_results.py run FOLDER       simulate each scenario, write NAME.json

`same-results` compares the results. Ten scenarios are enough here, because the test `frozen` of the
engine compares all scenarios on the system that runs it.
"""

import re
import sys
from pathlib import Path

SCENARIOS = Path(__file__).parents[1] / "crates/engine/tests/frozen/scenarios.txt"

NAMES = (
    "file-01-csma-hops",
    "file-05-dumbbell",
    "file-07-hotspot",
    "file-14-vbs",
    "aggregates-he",
    "dualpi2-shifted",
    "l4s-in-a-cell",
    "pacing",
    "parking-lot-spread",
    "web-00",
)


def write(folder: Path) -> None:
    """Write the ten scenarios, and the settings with which the test `frozen` runs them."""
    blocks = re.split(r"^=== ", SCENARIOS.read_text("utf-8"), flags=re.MULTILINE)[1:]
    by_name = {block.split(maxsplit=1)[0]: block.partition("\n")[2] for block in blocks}
    for name in NAMES:
        lines = by_name[name].splitlines()
        if unknown := [line for line in lines if re.match(r"--- (?!set )", line)]:
            sys.exit(
                f"error: {SCENARIOS.name}: {name}: {unknown[0]!r}: only `set` is supported here"
            )
        settings = [line.removeprefix("--- set ") for line in lines if line.startswith("--- ")]
        text = [line for line in lines if not line.startswith("--- ")]
        for suffix, content in (("toml", text), ("settings", settings)):
            (folder / f"{name}.{suffix}").write_bytes("".join(f"{x}\n" for x in content).encode())


def run(folder: Path) -> None:
    """Simulate the scenarios of a folder, and write their results next to them."""
    import lasthop

    for file in sorted(folder.glob("*.toml")):
        settings = file.with_suffix(".settings").read_text("utf-8").splitlines()
        result = lasthop.simulate(file, settings=dict(line.split("=", 1) for line in settings))
        file.with_suffix(".json").write_bytes(result.to_json().encode())
        print(f"simulated {file.stem}", flush=True)


if __name__ == "__main__":
    {"write": write, "run": run}[sys.argv[1]](Path(sys.argv[2]))
