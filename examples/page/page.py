"""Measure the load of a page over a busy access point: `python examples/page/page.py`, as root, in
ten minutes.

Headless Chromium loads the page of `objects.py` at a station of an emulated cell. There are three
cases: no other traffic, four uploads, and four uploads with a shared bottleneck. Each run has
another seed and a new browser with an empty cache. The program prints a table, and writes a record
as JSON and a picture of each case's median run.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from browser import BrowserError, program
from busy import Others, rest
from load import LONGEST_S
from objects import OBJECTS

from lasthop.answers.saving import write_atomically
from lasthop.emulated.lateness import LATE_S
from lasthop.emulation import emulate
from lasthop.emulation.places import SERVER
from lasthop.emulation.programs import Program
from lasthop.errors import UserError

Item = dict[str, Any]

HERE = Path(__file__).parent
SCENARIO = HERE / "page.toml"
CASES: Mapping[str, Mapping[str, object]] = {
    "alone": {"station.guest.upload.segments": 1},
    "beside four uploads": {},
    "with a shared bottleneck": {"vsb": {}},
}
"""Changed settings of the scenario in each case. A scenario needs a flow, so that the case without
traffic has an upload of one segment.
"""
RUNS = 9
TRIES = 5
"""Largest number of repetitions of a run that other programs disturbed."""
MAX_OTHERS = 0.2
"""Largest number of processors that other programs may use: a tenth of two processors. [-]"""
COLUMNS = (
    *("", "complete\n[s]", "first paint\n[s]", "lost\n[%]", "ping\n[ms]"),
    *("queue\n[packets]", "uploads\n[Mb/s]"),
)


def measure(runs: int, anyway: bool) -> Item:
    """Run all cases and return their record. With `anyway`, disturbed runs are kept.

    Raises
    ------
    UserError
        If Chromium is not installed, or this machine cannot run emulations or is too busy.
    """
    try:
        program()
    except BrowserError as error:
        raise UserError(str(error)) from error
    cases: list[Item] = []
    for name, settings in CASES.items():
        made: list[Item] = []
        for seed in range(1, runs + 1):
            print(f"{name}, {seed} of {runs}: ", end="", flush=True)
            made.append(run(settings, seed) if anyway else in_time(settings, seed))
        cases.append({"name": name, "settings": settings, "runs": made})
    return {"cases": cases}


def in_time(settings: Mapping[str, object], seed: int) -> Item:
    """Return a run that other programs did not disturb. Disturbed runs are repeated."""
    for attempt in range(1, TRIES + 1):
        record = run(settings, seed)
        trouble = busy([record])
        if trouble is None:
            return record
        if attempt < TRIES:
            print(f"  {trouble}; again: ", end="", flush=True)
            rest(MAX_OTHERS)
    raise UserError(f"{trouble}, {TRIES} times", "close what else runs, or keep it by `--anyway`")


def busy(runs: Sequence[Item]) -> str | None:
    """Return a message if other programs disturbed these runs, or None."""
    late_s = max(each["lateness_p99_s"] for each in runs)
    others = max(each["others_processors"] for each in runs)
    if late_s > LATE_S:
        return f"1 % of the packets were {1e3 * late_s:.1f} ms late, above {1e3 * LATE_S:g} ms"
    if others > MAX_OTHERS:
        return f"other programs used {others:.2f} processors, above {MAX_OTHERS:g}"
    return None


def run(settings: Mapping[str, object], seed: int) -> Item:
    """Load the page once in an emulation."""
    others = Others()
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory, "load.json")
        browser = Program("laptop", [sys.executable, str(HERE / "load.py"), "--out", str(out)])
        server = Program("server", [sys.executable, str(HERE / "serve.py")])
        answer = emulate(
            SCENARIO, settings={**settings, "seed": seed}, foreground=browser, others=[server]
        )
        if answer.exit_code != 0:
            raise UserError("the page was not loaded")
        load = json.loads(out.read_text())
    failed = [each["path"] for each in load["objects"] if each["status"] != 200]
    if load["complete"] and (failed or len(load["objects"]) != OBJECTS):
        raise UserError(f"{len(load['objects'])} objects of {OBJECTS}, failed: {failed}")
    flows, summary = answer.summary["flows"], answer.summary
    uploads = [flow["goodput_bps"]["mean"] for flow in flows if flow["name"].startswith("guest-")]
    web = [flow for flow in flows if flow.get("connection", "").startswith(f"tcp {SERVER}:80 ")]
    return {
        "seed": seed,
        "lateness_p99_s": answer.lateness_p99_s or 0.0,
        "others_processors": others.processors(),
        "uploads_bps": sum(uploads),
        "loss": weighted([(flow["loss_probability"], flow["goodput_bps"]) for flow in web]),
        "ap_queue_packets": summary["aps"][0]["queue_packets"]["mean"],
        "capacity_bps": [flow["capacity_bps"]["mean"] for flow in summary.get("links", ())],
        **load,
    }


def weighted(pairs: Sequence[tuple[Item, Item]]) -> float:
    """Return the weighted mean of estimates. Each pair is an estimate and its weight, which is an
    estimate too. The mean is 0 if all weights are 0.
    """
    total = sum(weight["mean"] for _, weight in pairs)
    return sum(value["mean"] * weight["mean"] for value, weight in pairs) / total if total else 0.0


def table(record: Item) -> str:
    """Return the table as text, with one row for each case."""
    rows = [[each["name"], *cells(each["runs"])] for each in record["cases"]]
    headers = [column.partition("\n")[::2] for column in COLUMNS]
    lines = [[first for first, _ in headers], [second for _, second in headers], *rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(COLUMNS))]
    lines.insert(2, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(
            text.rjust(width) if k else text.ljust(width)
            for k, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def cells(runs: Sequence[Item]) -> list[str]:
    """Return the table cells of a case."""
    pings = [each for run in runs for each in run["pings"]]
    rtts_s = [rtt_s for sent_s, rtt_s in pings if sent_s < 0 and rtt_s is not None]
    return [
        with_range([run["load_s"] for run in runs]),
        with_range([run["first_paint_s"] for run in runs]),
        f"{100 * fmean(run['loss'] for run in runs):.1f}",
        f"{1e3 * median(rtts_s):.0f}" if rtts_s else "-",
        f"{fmean(run['ap_queue_packets'] for run in runs):.0f}",
        f"{fmean(run['uploads_bps'] for run in runs) / 1e6:.1f}",
    ]


def with_range(times_s: Sequence[float | None]) -> str:
    """Return median, minimum and maximum as text. A page that was never complete counts as longer
    than any other.
    """
    ordered = sorted(math.inf if each is None else each for each in times_s)
    middle, least, most = (as_seconds(each) for each in (median(ordered), ordered[0], ordered[-1]))
    return f"{middle} ({least}..{most})"


def as_seconds(time_s: float) -> str:
    """Return a time [s] as text."""
    return f">{LONGEST_S:g}" if math.isinf(time_s) else f"{time_s:.2f}"


def about(record: Item) -> str:
    """Return the text below the table: how the values were measured."""
    runs = [each for case in record["cases"] for each in case["runs"]]
    late_ms = 1e3 * max(each["lateness_p99_s"] for each in runs)
    others = max(each["others_processors"] for each in runs)
    browsers = ", ".join(sorted({each["browser"].replace("Chrome/", "Chromium ") for each in runs}))
    count = len(record["cases"][0]["runs"])
    return (
        f"{count} loads each by {browsers}: median (least..most)\n"
        "lost: of the page's segments; ping: of datagrams, 3 s before it; queue: the AP's\n"
        f"at worst 1 % of the packets were {late_ms:.2g} ms late, other programs used {others:.2f} "
        "processors"
    )


def main() -> int:
    """Run the measurement or read its record. Print the table and draw the picture."""
    options = argparse.ArgumentParser(description="Loads a page behind a busy access point.")
    options.add_argument("--runs", type=int, default=RUNS, help="loads of each case")
    options.add_argument("--record", type=Path, default=Path("out/page.json"))
    options.add_argument("--picture", type=Path, default=Path("out/page.png"))
    options.add_argument("--anyway", action="store_true", help="keep runs of a busy machine")
    options.add_argument("--redraw", action="store_true", help="from the record, without measuring")
    asked = options.parse_args()
    if asked.runs < 1:
        options.error(f"argument --runs: {asked.runs}; expected from 1 on")
    try:
        for path in (asked.record, asked.picture):
            path.parent.mkdir(parents=True, exist_ok=True)
        if not asked.redraw:
            text = as_text(measure(asked.runs, asked.anyway))
            write_atomically(asked.record, lambda path: path.write_text(text))
        show(read(asked.record), asked.picture)
    except UserError as error:
        print(
            f"\nerror: {error}" + (f"\nhint: {error.hint}" if error.hint else ""), file=sys.stderr
        )
        return 2
    except OSError as error:
        print(f"\nerror: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted: nothing was written", file=sys.stderr)
        return 130
    print(f"\nrecord: {asked.record}\npicture: {asked.picture}")
    return 0


def read(path: Path) -> Item:
    """Read a record.

    Raises
    ------
    UserError
        If the file is not a record.
    """
    try:
        record = json.loads(path.read_text())
        return {"cases": record["cases"]}
    except (ValueError, LookupError, TypeError) as error:
        raise UserError(f"{path}: is no record of loads of the page") from error


def show(record: Item, picture: Path) -> None:
    """Print the table, with a warning if the machine was busy, and draw the picture."""
    from waterfall import figure

    print(f"\n{table(record)}\n\n{about(record)}")
    if trouble := busy([run for case in record["cases"] for run in case["runs"]]):
        print(f"warning: {trouble}", file=sys.stderr)
    write_atomically(picture, figure(record).savefig)


def as_text(record: Item) -> str:
    """Return the record as JSON with one line per run."""
    lines = []
    for case in record["cases"]:
        runs = ",\n".join(json.dumps(each, separators=(",", ":")) for each in case["runs"])
        known = f'"name": {json.dumps(case["name"])}, "settings": {json.dumps(case["settings"])}'
        lines.append(f'{{{known}, "runs": [\n{runs}\n]}}')
    return '{"cases": [\n' + ",\n".join(lines) + "\n]}\n"


if __name__ == "__main__":
    sys.exit(main())
