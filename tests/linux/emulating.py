"""Helpers for tests of emulations: functions that run the command, and a check of the rights."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import commands
import lasthop as lh
from lasthop.emulation.places import SERVER
from lasthop.linux.netns import Namespace
from lasthop.linux.tun import open_tun

COMMAND = [
    sys.executable,
    "-c",
    "import sys; from lasthop.cli import main; sys.exit(main())",
    "emulate",
]
"""Command line of `lasthop emulate` as a separate process."""


def emulated(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run `lasthop emulate` in a fork of this process, like `subprocess.run`."""
    return commands.run("emulate", *words)


def skip_without_rights() -> None:
    """Skip with a reason if namespaces cannot be created."""
    try:
        node = Namespace()
        os.close(node.run(lambda: open_tun("probe", SERVER, "255.0.0.0", 1500)))
        node.close()
    except (lh.UserError, OSError) as error:
        pytest.skip(f"no emulation here: {error}")


def moves_packets(process: int) -> bool:
    """Return whether a process has a listener, and both sockets of at least five connections."""
    with suppress(OSError):
        each = Path(f"/proc/{process}/fd")
        return sum("socket:" in os.readlink(descriptor) for descriptor in each.iterdir()) >= 15
    return False
