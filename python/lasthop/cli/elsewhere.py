"""Options that run simulations on other machines: in a Dask cluster or as Slurm jobs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lasthop.batch.executors import Workers, dask_cluster, slurm
from lasthop.cli.options import flag, pairs, unset
from lasthop.errors import UserError

CLUSTER = unset("ADDRESS", "Simulate on the Dask cluster whose scheduler has this address.")
ON_SLURM = flag("--slurm", "Simulate in Slurm jobs, which submitit submits.")
SLURM_OPTIONS = unset(
    "NAME=VALUE",
    "Set an option of the Slurm jobs, such as slurm_partition=long; repeatable.",
    "--slurm-option",
)


@contextmanager
def workers(
    cluster: str | None,
    on_slurm: bool,
    options: list[str] | None,
    jobs: int | None,
    folder: Path,
) -> Iterator[Workers | None]:
    """Yield the workers that simulate; None for threads of this process.

    Raises
    ------
    UserError
        If options contradict each other, or if the cluster has no workers.
    """
    if cluster is not None and on_slurm:
        raise UserError("--slurm: --cluster is given as well; expected only one of the two")
    if jobs is not None and (on_slurm or cluster is not None):
        raise UserError(f"--jobs {jobs}: cannot be combined with --slurm or --cluster")
    if options and not on_slurm:
        raise UserError(f"--slurm-option {options[0]}: expected --slurm as well")
    if cluster is not None:
        with dask_cluster(cluster) as result:
            yield result
    elif on_slurm:
        known = pairs(options or [], "--slurm-option", "NAME=VALUE", "slurm_partition=long")
        values = {name: int(text) if text.isdecimal() else text for name, text in known}
        kind = str(values.pop("cluster", "slurm"))
        with slurm(folder / "slurm", values, kind) as result:
            yield result
    else:
        yield None
