"""`lasthop reproduce`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from lasthop.cli.boundary import Interrupted
from lasthop.cli.elsewhere import Cluster, OnSlurm, SlurmOptions, workers
from lasthop.cli.options import OUT_RULE, Jobs, Json, file_name, writable
from lasthop.cli.picture import tell
from lasthop.cli.progress import batch_bar
from lasthop.extras import need
from lasthop.ownership import refuse_foreign


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SUBJECT|CLAIM",
            help="Such as hotspot or hotspot-5, several if you like; all if none is named.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer runs; what they cannot decide stays open.")
    ] = False,
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            parser=file_name,
            help=f"{OUT_RULE} Report and figures; finished runs are kept there.",
        ),
    ] = Path("out/reproduce"),
    jobs: Jobs = None,
    cluster: Cluster = None,
    on_slurm: OnSlurm = False,
    slurm_options: SlurmOptions = None,
    as_json: Json = False,
) -> None:
    """Run the studies that settle claims of the papers, and print the ledger with its verdicts."""
    need("lasthop reproduce", "numpy", "scipy", "matplotlib")
    from lasthop.cli.ledger import print_ledger
    from lasthop.studies.reproduction import task

    chosen = task(names or [], quick=quick)
    directory = writable(out)
    refuse_foreign(directory, chosen.files)
    try:
        with (
            workers(cluster, on_slurm, slurm_options, jobs, directory) as executor,
            batch_bar("reproducing") as progress,
        ):
            reproduction = chosen.run(directory, progress, jobs, executor)
    except KeyboardInterrupt:
        done, all_of_them = chosen.plan.finished(directory)
        message = f"{done} of {all_of_them} runs are kept in {directory}"
        raise Interrupted(message, "the same command goes on from there") from None
    try:
        report = reproduction.save(directory)
    finally:  # A full disk must not cost the verdicts.
        if as_json:
            typer.echo(json.dumps(reproduction.to_dict(), indent=2, ensure_ascii=False))
        else:
            print_ledger(reproduction)
    tell("report", report, as_json=as_json)
