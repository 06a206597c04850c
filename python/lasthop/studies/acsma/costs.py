"""Section 5.3.5: CPU time, elapsed time and memory of TCP connections, from a stored measurement.

``bench/connection_costs.py`` measured the costs over the loopback interface. The docstring of that
program describes the method. ``costs.json`` has the results and the machine.
"""

import json
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from lasthop.studies.study import Quantity, Runs, Study, about, listed

TIMES = ("socket", "handshake", "packet", "close")
"""Operations for which CPU time and elapsed time were measured."""

MEMORIES = ("threads", "one_thread")
"""Programs that serve 100 connections: with one thread per connection, or with one thread for all
connections.
"""


@cache
def measured_costs() -> Any:
    """Return the stored measurement: machine, date, and the costs in every repetition. The costs
    over loopback and over a slow link are separate.
    """
    file = resources.files("lasthop.studies.acsma").joinpath("costs.json")
    return json.loads(file.read_text(encoding="utf-8"))


def _cost(name: str, where: str = "rounds") -> Quantity:
    return Quantity(np.asarray(measured_costs()[where][name], dtype=np.float64))


def _measure(_: Runs) -> dict[str, Quantity]:
    values = {f"{name}_s": _cost(f"{name}_s") for name in TIMES}
    values |= {"open_s": _cost("socket_s") + _cost("handshake_s")}
    return values | {f"memory_{name}_mb": _cost(f"memory_{name}_mb") for name in MEMORIES}


def _finding(_: Runs) -> str:
    every = listed(_cost(f"{name}_s") * 1e6 for name in TIMES)
    busy, waited = (_cost(f"handshake{what}_s", "slow") * 1e6 for what in ("", "_elapsed"))
    where, on, date = (measured_costs()[name] for name in ("slow_mbps", "on", "date"))
    return (
        f"initialising a socket, the handshake, sending a packet and closing take {every} us of "
        "CPU time over loopback, including the work of the other end. If loopback is a link of "
        f"{where} Mb/s, the handshake takes {busy} us of CPU time, but {waited} us of elapsed "
        "time. So a handshake takes many times as long as everything else because it waits for the "
        "network, not because of its work. The memory is that of the process. For the 100 threads, "
        f"the kernel has stacks of another {_cost('stacks_threads_mb')} MB. The measurement was "
        f"made on {on}, {date}"
    )


STUDY = Study(
    key="acsma-costs",
    title="Section 5.3.5: times and memory of a program's connections",
    measure=_measure,
    findings=about("acsma-25", _finding),
    basis="from a stored measurement",
)
