"""Test of a queue at an interface in another network namespace, without effect on traffic."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from lasthop.enforce.queue.config import LinkQueue
from lasthop.enforce.queue.shaped import Shaped
from lasthop.errors import UserError
from lasthop.linux import veth
from lasthop.linux.netlink import Socket
from lasthop.linux.netns import Namespace
from lasthop.linux.undo import UndoLog

TRIED, OTHER = "tried", "other"


def try_out(wanted: LinkQueue) -> None:
    """Create a queue once in this machine's kernel, if this process may create a namespace.

    Raises
    ------
    UserError
        If the kernel does not support the queue.
    """
    try:
        namespace = Namespace()
    except UserError:
        return

    def set_up() -> None:
        with Socket() as kernel:
            kernel.carry_out([veth.add_pair(TRIED, OTHER, namespace.descriptor)])
        alone = replace(wanted, interface=TRIED, incoming=())
        with (
            TemporaryDirectory() as directory,
            Shaped(alone, UndoLog(Path(directory, "undo"))) as shaped,
        ):
            shaped.up()

    try:
        namespace.run(set_up)
    finally:
        namespace.close()
