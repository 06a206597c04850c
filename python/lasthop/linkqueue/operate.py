"""What `lasthop queue` does: a sort of what can be up, and what a check finds."""

from lasthop.daemon.sort import Life, Sort
from lasthop.daemon.state import State, state_of
from lasthop.errors import UserError
from lasthop.linkqueue import config
from lasthop.linkqueue.config import LinkQueue
from lasthop.linkqueue.layout import cautions
from lasthop.linkqueue.shaped import Shaped, undo_everything
from lasthop.linux import links, offload, rights
from lasthop.linux.netlink import Socket


def check(wanted: LinkQueue) -> list[str]:
    """What to mind on this machine.

    Raises
    ------
    UserError
        For what would make `up` fail.
    """
    if (lacks := rights.lacking()) is not None:
        return [f"this machine was not looked at: that takes {lacks}, which root has"]
    state = state_of(wanted.interface, None)
    is_up = state.is_held()
    refuse(wanted, state, is_up)
    found = warnings(wanted)
    if is_up:
        found.insert(0, f"it is up ({state.holder()}); `up` lets it take the file over")
    return found


def refuse(wanted: LinkQueue, state: State, is_up: bool) -> None:
    """Refuse what can be known to fail before a file is written."""
    with Shaped(wanted, state.log) as shaped:
        shaped.check(is_up=is_up or bool(state.log.records()))


def warnings(wanted: LinkQueue) -> list[str]:
    """What to mind, in words."""
    found = cautions(wanted)
    if not wanted.incoming:
        merging = [name for name in others(wanted.interface) if offload.merges(name)]
        if merging:
            found.append(
                f"receive offload is on at {', '.join(merging)}: what it merges counts as one "
                "packet of the queue; `interface.from` names those that it is to be turned off at"
            )
    return found


def others(interface: str) -> list[str]:
    """Interfaces that packets may come in by."""
    with Socket() as kernel:
        there = links.every_link(kernel)
    return [name for name, link in there.items() if link.is_up and name not in (interface, "lo")]


def serve(life: Life[LinkQueue]) -> None:
    """The life of a queue."""
    from lasthop.linkqueue.service import Service

    service = Service(life)
    try:
        try:
            service.up()
            service.run()
        finally:
            kept = service.down()
        if kept:
            raise UserError(kept[0], f"{life.state.log.path} lists what is left")
    finally:
        service.close()


QUEUE = Sort("queue", config.read, lambda one: one.interface, refuse, serve, undo_everything)
