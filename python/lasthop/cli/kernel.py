"""`lasthop kernel`: kernels for emulations in simulated time."""

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import typer

from lasthop.cli.boundary import Interrupted, note, print_error, warn
from lasthop.cli.options import JSON, counted, flag, unset
from lasthop.errors import UserError
from lasthop.progress.cost_limits import TIMES, cost_text

if TYPE_CHECKING:
    from lasthop.uml.build import Cost
    from lasthop.uml.source import Source
    from lasthop.uml.store import BuiltKernel, DamagedKernel

HEADS = ["kernel", "version", "source", "size [MB]", "built", "used"]
NONE_BUILT = "no kernel is built"


def build(
    source: str | None = unset(
        "PACKAGE",
        "Build this package of the distribution, such as linux-source-6.12, or an archive "
        "FILE.tar.xz; by default the newest package.",
    ),
    yes: bool = flag("--yes", "Build without asking for confirmation.", "-y"),
    as_json: bool = JSON,
) -> None:
    """Build a small user-mode Linux with all queue disciplines, congestion controls, MPTCP and BPF.

    The command first prints the cost of the build, and asks for confirmation at a terminal. It
    needs no root rights. A kernel of the same source and configuration is not built again.
    """
    from lasthop.cli.progress import step_bar
    from lasthop.uml.build import already_built, check, cost
    from lasthop.uml.build import build as carry_out
    from lasthop.uml.kernel import check_machine
    from lasthop.uml.source import find_source

    check_machine()
    chosen = find_source(source)
    kernel = already_built(chosen)
    if kernel is not None:
        note(f"{kernel.name} is already built from {chosen.name}", err=True)
    else:
        check(chosen)
        note(cost_of_build(chosen, cost(chosen)), err=True)
        if not (yes or confirm()):
            note("no kernel was built", err=True)
            return
        try:
            with interrupted_by_termination(), step_bar("building") as progress:
                built = carry_out(chosen, progress)
        except KeyboardInterrupt:
            raise Interrupted("no kernel was built") from None
        kernel = built.kernel
        if built.refused:
            note(
                f"{chosen.name} has no {', '.join(built.refused)}: the kernel is built without",
                err=True,
            )
        note(f"built in {cost_text(kernel.processor_s, TIMES)} of CPU time", err=True)
    if as_json:
        typer.echo(json.dumps(kernel_json(kernel), indent=2))
    else:
        typer.echo(f"{kernel.name}: {kernel.program}")


@contextmanager
def interrupted_by_termination() -> Iterator[None]:
    """Make SIGTERM and SIGHUP interrupt the block as Ctrl-C does, so that it removes its files."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {
        number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def cost_of_build(source: "Source", cost: "Cost") -> str:
    """Return a text with the cost of a build: download, disk space and CPU time."""
    from lasthop.uml.store import kernel_folder

    download = f"download {cost.download_bytes / 1e6:.0f} MB, " if cost.download_bytes else ""
    work, duration = cost_text(cost.processor_s, TIMES), cost_text(cost.duration_s, TIMES)
    return (
        f"building {source.name}: {download}{cost.disk_bytes / 1e9:.1f} GB of disk in "
        f"{kernel_folder()} during the build, {work} of CPU time "
        f"(about {duration} on {counted(cost.processors, 'processor')}); the "
        f"kernel has {cost.result_bytes / 1e6:.0f} MB"
    )


def confirm() -> bool:
    """Ask whether to build; return True if there is no terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    while True:
        print("Build it? [Y/n] ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            print(file=sys.stderr)
            return False
        match line.strip().lower():
            case "" | "y" | "yes":
                return True
            case "n" | "no":
                return False
            case answer:
                print_error(f'"{answer}": expected yes or no')


def kernel_json(kernel: "BuiltKernel") -> dict[str, Any]:
    """Return a built kernel as JSON."""
    return {
        "name": kernel.name,
        "version": kernel.version,
        "source": kernel.source,
        "program": str(kernel.program),
        "size_bytes": kernel.size_bytes,
        "built_at_s": kernel.built_at_s,
        "processor_s": kernel.processor_s,
    }


def listed(as_json: bool = JSON) -> None:
    """List the kernels of this machine; emulations use the first."""
    rows = list(entries())
    if as_json:
        typer.echo(json.dumps({"kernels": [asdict(row) for row in rows]}, indent=2))
        return
    if not rows:
        note(
            "no user-mode Linux found; run `lasthop kernel build`, or "
            "`apt install user-mode-linux` as root"
        )
        return
    from lasthop.cli.tables import print_table

    print_table(HEADS, [cells(row) for row in rows], 3)
    for row in rows:
        if row.problem:
            warn(row.problem)


@dataclass(frozen=True)
class KernelRow:
    """Row of the table that `list` prints: one user-mode Linux kernel of this machine."""

    name: str
    version: str | None
    source: str
    program: str
    size_bytes: int | None
    built_at_s: float | None
    processor_s: float | None
    problem: str | None
    used: bool
    """Whether `emulate --virtual` uses this kernel."""


def cells(row: KernelRow) -> list[str]:
    """Return the printed cells of a kernel's row."""
    return [
        row.name,
        row.version or "-",
        row.source,
        f"{row.size_bytes / 1e6:.1f}" if row.size_bytes else "-",
        time.strftime("%Y-%m-%d", time.localtime(row.built_at_s)) if row.built_at_s else "-",
        "yes" if row.used else "-",
    ]


def entries() -> Iterator[KernelRow]:
    """Yield a row per kernel of this machine; the kernel that emulations use is first."""
    from lasthop.uml.kernel import PACKAGE, VARIABLE, candidates, read_kernel
    from lasthop.uml.store import damaged_kernels

    for number, candidate in enumerate(candidates()):
        used = number == 0
        if candidate.built is not None:
            yield KernelRow(**kernel_json(candidate.built), problem=None, used=used)
            continue
        version, size_bytes, problem = None, None, None
        try:
            version = read_kernel(candidate.program, candidate.label()).version
            size_bytes = candidate.program.stat().st_size
        except UserError as error:
            problem = str(error)
        source = VARIABLE if candidate.named else PACKAGE
        name = str(candidate.program)
        yield KernelRow(name, version, source, name, size_bytes, None, None, problem, used)
    for damaged in damaged_kernels():
        program = str(damaged.folder / "linux")
        yield KernelRow(
            damaged.name, None, "damaged", program, None, None, None, damaged.problem, False
        )


def remove(
    names: list[str] | None = typer.Argument(
        None, metavar="NAME", help="Remove the kernel with this name in `lasthop kernel list`."
    ),
    everything: bool = flag("--all", "Remove all built kernels."),
    as_json: bool = JSON,
) -> None:
    """Remove built kernels. Running emulations continue."""
    from lasthop.uml.store import built_kernels, damaged_kernels

    found: list[BuiltKernel | DamagedKernel] = [*built_kernels(), *damaged_kernels()]
    kernels = {kernel.name: kernel for kernel in found}
    if names and everything:
        raise UserError(f'NAME: "{names[0]}": expected no names with --all')
    if not names and not everything:
        raise UserError("NAME: expected names of kernels, or --all", "run `lasthop kernel list`")
    for name in names or ():
        if name not in kernels:
            known = f"expected one of {', '.join(kernels)}" if kernels else NONE_BUILT
            raise UserError(f'NAME: "{name}" is not a built kernel: {known}')
    removed = list(kernels) if everything else list(dict.fromkeys(names or ()))
    for name in removed:
        kernels[name].remove()
    if as_json:
        typer.echo(json.dumps({"removed": removed}))
    else:
        typer.echo("\n".join(f"{name} is removed" for name in removed) or NONE_BUILT)


listed.__name__ = "list"

COMMANDS: dict[Callable[..., None], str] = {
    build: "Build a kernel from a package of the distribution.",
    listed: "List the kernels; emulations use the first.",
    remove: "Remove built kernels.",
}
"""Functions of the group's commands, with one-line descriptions."""
