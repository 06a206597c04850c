"""`lasthop emulate`."""

import sys

import typer

from lasthop.cli.options import File, Json, Settings, read_scenario
from lasthop.cli.predict import print_warnings
from lasthop.cli.progress import real_time_bar
from lasthop.cli.tables import print_answer

LATE_S = 2e-3
"""Lateness from which on a reader is warned: one packet of 802.11b at 11 Mb/s on the air. [s]"""


def emulate(file: File, settings: Settings = None, as_json: Json = False) -> None:
    """Run a scenario in real time, with the real TCP of Linux between network namespaces."""
    scenario = read_scenario(file, settings)
    from lasthop.emulation import emulate as run

    with real_time_bar("emulating") as progress:
        emulation = run(scenario, progress=progress)
    if as_json:
        sys.stdout.write(emulation.to_json())
    else:
        length = f"{scenario['duration_s']:g} s"
        typer.echo(
            f"{scenario['name']}\n{length} in real time, first {scenario['warmup_s']:g} s cut\n"
        )
        print_answer(emulation.summary, emulation.scenario.typed)
    print_warnings(emulation)
    print_lateness(emulation.lateness_p99_s)


def print_lateness(late_s: float | None) -> None:
    """How late packets were, on standard error."""
    if late_s is None:
        return
    said = f"1 % of the packets were handed over more than {late_s * 1e3:.3g} ms late"
    warn = "warning: " if late_s > LATE_S else ""
    print(f"{warn}{said}", file=sys.stderr)
