"""Loading and unloading, for a process or until it is requested."""

import contextlib
import os
import time
from collections.abc import Iterable, Iterator

from lasthop.enforce.congestion.controls import CONTROLS, Control
from lasthop.enforce.congestion.listing import holders, listed
from lasthop.errors import UserError
from lasthop.linux import pins, struct_ops
from lasthop.linux.tcp import available_congestion, has_congestion

PATIENCE_S = 5.0
"""Longest wait until the kernel removes a name. [s]"""


def load(control: Control, *, stays: bool = False) -> int:
    """Load a control under its name for users.

    Returns
    -------
    int
        A descriptor. Unless the control `stays`, its name is removed with the last copy of the
        descriptor. Connections that use the control keep it until they end.

    Raises
    ------
    UserError
        If the kernel has a control of this name, or this process may not load it.
    """
    name = control.kernel_name
    if has_congestion(name):
        ours = any(each.name == name and each.law for each in listed())
        text = "loaded already" if ours else "the kernel has its own"
        raise UserError(
            f"congestion control {control.name}: {text}",
            "run `lasthop congestion list` to see its origin",
        )
    descriptor = struct_ops.load(control.object, name, control.name)
    if stays:
        try:
            pins.keep(descriptor, name)
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


def unload(control: Control) -> None:
    """Remove a control that stays.

    Raises
    ------
    UserError
        If there is none, or a process holds it, whose end removes it.
    """
    name = control.kernel_name
    if pins.let_go(name):
        wait_until_gone(name)
        return
    if text := held(name):
        raise UserError(f"congestion control {control.name}: {text}", "it goes with that")
    text = "the kernel's own" if name in available_congestion() else "not loaded"
    raise UserError(f"congestion control {control.name}: {text}")


def held(name: str) -> str:
    """Return the processes that hold a control, in words."""
    names = [f"process {holder.number} ({holder.program})" for holder in holders(name)]
    return f"held by {', '.join(names)}" if names else ""


def wait_until_gone(name: str) -> None:
    """Wait until the kernel has removed a name, which it does after the call that released it."""
    end_s = time.monotonic() + PATIENCE_S
    while name in available_congestion():
        if time.monotonic() > end_s:
            raise UserError(f"congestion control {name}: still there", held(name) or None)
        time.sleep(0.01)


@contextlib.contextmanager
def loaded(names: Iterable[str]) -> Iterator[dict[str, str]]:
    """Load controls into the kernel for a while, under names that only this process uses.

    Parameters
    ----------
    names : iterable of str
        Names in scenarios; those that cannot be loaded are left out.

    Yields
    ------
    dict
        The kernel's name of names. Controls of the kernel itself keep their names.

    Raises
    ------
    UserError
        If one cannot be loaded.
    """
    results: dict[str, str] = {}
    with contextlib.ExitStack() as stack:
        for name in sorted(set(names) & CONTROLS.keys()):
            control = CONTROLS[name]
            if control.is_everyones and has_congestion(control.kernel_name):
                results[name] = control.kernel_name
                continue
            descriptor = struct_ops.load(control.object, control.own_name, name)
            stack.callback(os.close, descriptor)
            results[name] = control.own_name
        yield results


def missing() -> str | None:
    """Why nothing can be loaded here; None if it can. Found out by trying.

    The trial's name is this process's own.
    """
    name, law = f"try_{os.getpid()}", CONTROLS["compound"]
    try:
        os.close(struct_ops.load(law.object, name, law.name))
    except UserError as error:
        text = str(error).removeprefix(f"congestion control {law.name}: ")
        return f"{text}; {error.hint}" if error.hint else text
    wait_until_gone(name)
    return None
