"""`lasthop reproduce`."""

import json
from pathlib import Path

import typer

from lasthop.answers.overwrite import refuse_foreign
from lasthop.cli.boundary import Interrupted
from lasthop.cli.elsewhere import CLUSTER, ON_SLURM, SLURM_OPTIONS, workers
from lasthop.cli.options import JOBS, JSON, flag, out_option, writable
from lasthop.cli.picture import tell
from lasthop.cli.progress import batch_bar
from lasthop.extras import need


def reproduce(
    names: list[str] | None = typer.Argument(
        None,
        metavar="SUBJECT|CLAIM",
        help="Subjects or claims, such as hotspot or hotspot-5; by default all claims.",
        show_default=False,
    ),
    quick: bool = flag(
        "--quick",
        "Run fewer simulations. A claim is reported as open if they do not decide it.",
    ),
    out: Path = out_option(
        "The files are the report and figures. Finished runs are saved there and reused.",
        Path("out/reproduce"),
    ),
    jobs: int | None = JOBS,
    cluster: str | None = CLUSTER,
    on_slurm: bool = ON_SLURM,
    slurm_options: list[str] | None = SLURM_OPTIONS,
    as_json: bool = JSON,
) -> None:
    """Run the studies that check claims of the papers, and print a verdict on each claim."""
    need("lasthop reproduce")
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
        message = f"{done} of {all_of_them} runs are saved in {directory}"
        raise Interrupted(message, "run the same command again to continue") from None
    try:
        report = reproduction.save(directory)
    finally:  # The verdicts are printed even if the disk is full.
        if as_json:
            typer.echo(json.dumps(reproduction.to_dict(), indent=2, ensure_ascii=False))
        else:
            print_ledger(reproduction)
    tell("report", report, as_json=as_json)
