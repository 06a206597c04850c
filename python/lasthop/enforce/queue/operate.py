"""Run shaped queues as services of `lasthop queue`, and check configurations."""

from pathlib import Path

from lasthop.daemon.service_kind import ServiceContext, ServiceKind
from lasthop.daemon.state import State, state_of
from lasthop.enforce.queue import config
from lasthop.enforce.queue.config import LinkQueue
from lasthop.enforce.queue.layout import warnings_for
from lasthop.enforce.queue.shaped import Shaped
from lasthop.enforce.queue.trial import try_out
from lasthop.linux import links, offload, rights
from lasthop.linux.netlink import Socket


def check(wanted: LinkQueue, directory: Path | None = None) -> list[str]:
    """Check whether this machine can set up the queue, and return warnings.

    Parameters
    ----------
    wanted : LinkQueue
    directory : Path, optional
        Directory that contains the lock and the undo log.

    Raises
    ------
    UserError
        If `up` would fail.
    """
    if (lacks := rights.lacking()) is not None:
        return [rights.no_right_to_test(lacks)]
    state = state_of(wanted.interface, None) if directory is None else State(directory)
    is_up = state.is_held()
    refuse(wanted, state, is_up)
    result = warnings(wanted)
    if is_up:
        result.insert(
            0, f"the queue is up ({state.holder()}); run `lasthop queue up` to apply the file"
        )
    return result


def refuse(wanted: LinkQueue, state: State, is_up: bool) -> None:
    """Raise `UserError` if `up` is known to fail, before a file is written."""
    with Shaped(wanted, state.log) as shaped:
        shaped.check(is_up=is_up or bool(state.log.records()))
    try_out(wanted)


def warnings(wanted: LinkQueue) -> list[str]:
    """Return warnings about the configuration and this machine."""
    result = warnings_for(wanted)
    if wanted.discipline == "cake":  # CAKE splits merged segments.
        return result
    merging = [name for name in others(wanted) if offload.merges(name)]
    if merging:
        result.append(
            f"receive offload is on at {', '.join(merging)}: merged segments count as one "
            "packet of the queue; list in `interface.from` the interfaces at which to turn it off"
        )
    return result


def others(wanted: LinkQueue) -> list[str]:
    """Return the interfaces that are up and may merge the packets that they receive.

    The queue's interface and the interfaces in `incoming` are left out, since their receive offload
    is turned off. If `incoming` is not empty, only ports of the bridges in `incoming` are returned.
    """
    with Socket() as kernel:
        present = links.every_link(kernel)
    bridges = {present[name].number for name in wanted.incoming if name in present}
    return [
        name
        for name, link in present.items()
        if link.is_up
        and name not in (wanted.interface, "lo", *wanted.incoming)
        and (not wanted.incoming or link.master in bridges)
    ]


def serve(context: ServiceContext[LinkQueue]) -> None:
    """Run a shaped queue until it is stopped."""
    from lasthop.enforce.queue.service import QueueService

    QueueService(context).serve()


QUEUE = ServiceKind("queue", config.read, lambda wanted: wanted.interface, refuse, serve)
