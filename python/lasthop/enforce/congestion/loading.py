"""Load congestion controls into the kernel, for one process or until a user unloads them."""

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
"""Longest wait until the kernel has removed the name of a congestion control. [s]"""


def load(control: Control, *, stays: bool = False) -> int:
    """Load a congestion control into the kernel, under the name `kernel_name`.

    Returns
    -------
    int
        A file descriptor. Unless `stays` is set, the kernel removes the name when the last copy of
        the descriptor is closed. Existing connections use the congestion control until they end.

    Raises
    ------
    UserError
        If the kernel has a congestion control of this name, or this process may not load it.
    """
    name = control.kernel_name
    if has_congestion(name):
        ours = any(each.name == name and each.congestion for each in listed())
        text = (
            "loaded already" if ours else "the kernel already has a congestion control of this name"
        )
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
    """Remove a congestion control that was loaded with `stays`.

    Raises
    ------
    UserError
        If the congestion control is not loaded, or if a process keeps it loaded. In the second
        case, the kernel removes the congestion control when the process ends.
    """
    name = control.kernel_name
    if pins.let_go(name):
        wait_until_gone(name)
        return
    if text := held(name):
        raise UserError(f"congestion control {control.name}: {text}", "end this process")
    text = "part of the kernel" if name in available_congestion() else "not loaded"
    raise UserError(f"congestion control {control.name}: {text}")


def held(name: str) -> str:
    """Return a text with the names of the processes that keep a congestion control loaded."""
    names = [f"process {holder.number} ({holder.program})" for holder in holders(name)]
    return f"kept loaded by {', '.join(names)}" if names else ""


def wait_until_gone(name: str) -> None:
    """Wait until the kernel has removed the name of a congestion control. The removal may finish
    after the system call has returned."""
    end_s = time.monotonic() + PATIENCE_S
    while name in available_congestion():
        if time.monotonic() > end_s:
            users = f" ({held(name)})" if held(name) else ""
            raise UserError(f"congestion control {name}: still loaded{users}")
        time.sleep(0.01)


@contextlib.contextmanager
def loaded(names: Iterable[str]) -> Iterator[dict[str, str]]:
    """Load congestion controls while the body runs, under names that only this process uses.

    Parameters
    ----------
    names : iterable of str
        Names in scenarios. Names that lasthop cannot load are ignored.

    Yields
    ------
    dict
        Kernel name of each congestion control, by its name in scenarios. The kernel's own
        congestion controls keep their names.

    Raises
    ------
    UserError
        If a congestion control cannot be loaded.
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


def refused() -> UserError | None:
    """Return the error of `load` if this process may not load a congestion control, else None. The
    test registers nothing in the kernel."""
    control = CONTROLS["compound"]
    return struct_ops.refused(control.object, f"try_{os.getpid()}", control.name)


def missing() -> str | None:
    """Load and remove a congestion control as a test. Return the reason for a failure, else None.

    The test uses a kernel name that is unique to this process.
    """
    name, control = f"try_{os.getpid()}", CONTROLS["compound"]
    try:
        os.close(struct_ops.load(control.object, name, control.name))
    except UserError as error:
        text = str(error).removeprefix(f"congestion control {control.name}: ")
        return f"{text}; {error.hint}" if error.hint else text
    wait_until_gone(name)
    return None
