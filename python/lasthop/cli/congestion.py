"""`lasthop congestion`: TCP congestion controls for Linux."""

import json
import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lasthop.cli.options import JSON, flag

if TYPE_CHECKING:
    from lasthop.enforce.congestion.controls import Control
    from lasthop.enforce.congestion.listing import Listed

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Congestion control: compound or illinois.")
]


def known(name: str) -> "Control":
    """Return the congestion control with this name."""
    from lasthop.enforce.congestion.controls import control

    return control(name)


def listed(as_json: bool = JSON) -> None:
    """List the kernel's congestion controls with their origin, and those that can be loaded."""
    known("compound")
    from lasthop.enforce.congestion.controls import CONTROLS
    from lasthop.enforce.congestion.listing import listed as kernel_controls
    from lasthop.enforce.congestion.loading import missing

    present, reason = kernel_controls(), missing()
    names = [each.name for each in present]
    loadable = {
        each.name: {"kernel_name": each.kernel_name, "in_kernel": each.kernel_name in names}
        for each in CONTROLS.values()
    }
    if as_json:
        answer = {
            "kernel": [described(each) for each in present],
            "loadable": loadable,
            "missing": reason,
        }
        typer.echo(json.dumps(answer, indent=2))
        return
    for each in present:
        typer.echo(f"{each.name:16}{origin_text(each)}")
    for control in CONTROLS.values():
        if control.kernel_name not in names:
            typer.echo(
                f"{control.kernel_name:16}not loaded; run `lasthop congestion load {control.name}`"
            )
    if reason is not None:
        typer.echo(f"no congestion control can be loaded on this machine: {reason}")


def described(item: "Listed") -> dict[str, Any]:
    """Return a congestion control of the kernel as an object for JSON."""
    return {
        "name": item.name,
        "law": item.congestion,
        "origin": item.origin,
        "stays": item.stays,
        "processes": [each._asdict() for each in item.processes],
    }


def origin_text(item: "Listed") -> str:
    """Return the origin of a congestion control of the kernel, as text."""
    if item.origin is None:
        return "origin unknown without root rights"
    if item.origin == "kernel":
        return "part of the kernel"
    own = f"lasthop's {item.congestion}" if item.congestion else "BPF program of another tool"
    ends = [f"process {each.number} ({each.program}) ends" for each in item.processes]
    ends += [f"`lasthop congestion unload {item.congestion}`"] if item.stays else []
    return f"{own}, loaded until {' and '.join(ends)}" if ends else own


def load(
    name: Name,
    stay: bool = flag("--stay", "Return immediately, and keep the control loaded until `unload`."),
    as_json: bool = JSON,
) -> None:
    """Load a congestion control into the kernel, until Ctrl-C or SIGTERM.

    All users and network namespaces can then select this control, by the socket option
    TCP_CONGESTION or the sysctl net.ipv4.tcp_congestion_control. Connections that use the control
    keep it until they end.
    """
    control = known(name)
    from lasthop.enforce.congestion.loading import load as load_into_kernel

    ends = {signal.SIGINT, signal.SIGTERM}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    try:
        descriptor = load_into_kernel(control, stays=stay)
        if as_json:
            text = json.dumps(
                {"name": control.name, "kernel_name": control.kernel_name, "stays": stay}
            )
        else:
            until = f"`lasthop congestion unload {control.name}`" if stay else "Ctrl-C"
            text = f"{control.name} is loaded as {control.kernel_name} until {until}"
        print(text, flush=True)
        if not stay:
            signal.sigwait(ends)
        os.close(descriptor)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def unload(name: Name, as_json: bool = JSON) -> None:
    """Unload a congestion control that was loaded with --stay. Open connections keep using it."""
    control = known(name)
    from lasthop.enforce.congestion.loading import unload as unload_from_kernel

    unload_from_kernel(control)
    if as_json:
        typer.echo(json.dumps({"name": control.name, "kernel_name": control.kernel_name}))
    else:
        typer.echo(f"{control.kernel_name} is unloaded")


listed.__name__ = "list"

COMMANDS: dict[Callable[..., None], str] = {
    listed: "List the kernel's congestion controls.",
    load: "Load a congestion control, until Ctrl-C or until it is unloaded.",
    unload: "Unload a congestion control that was loaded with --stay.",
}
"""Functions of the group's commands, with one-line descriptions."""
