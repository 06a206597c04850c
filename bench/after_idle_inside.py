"""One run of `after_idle.py` inside user-mode Linux: a connection whose application pauses.

after_idle_inside.py SCENARIO SEED ON_S OFF_S

`SCENARIO` is a scenario of one flow without pauses, as JSON. The application writes for `ON_S`
seconds, pauses for `OFF_S` seconds, and then writes again. The output is the congestion window
every 0.1 s, as JSON.
"""

import json
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, Self

from kernel_tcp import RECEIVE_LIMIT
from kernel_tcp_points import SYSCTLS, WINDOW_PACKETS
from kernel_tcp_watch import Watch

from lasthop.emulation import emulate
from lasthop.emulation.connection import Connection
from lasthop.emulation.inside import START_S
from lasthop.emulation.places import Places
from lasthop.emulation.traffic import Driven, Traffic
from lasthop.linux.tcp import limit_unsent
from lasthop.uml.init import sleep_until

UNSENT_BYTES = 1 << 17
"""Largest amount of data in the send buffer that has not been sent, so that the connection sends
little after the beginning of a pause. [bytes]"""


class OnOff:
    """An application that pauses once.

    Parameters
    ----------
    connection : Connection
        Connection to which the application writes.
    on_s, off_s : float
        Duration of the first on period, and duration of the pause. [s]
    """

    def __init__(self, connection: Connection, on_s: float, off_s: float) -> None:
        self.connection = connection
        self.begin_connection = connection.begin
        self.on_s = on_s
        self.off_s = off_s

    def begin(self, traffic: Traffic) -> None:
        """Start the connection, and schedule the pause."""
        self.begin_connection(traffic)
        start_s = traffic.now_s()
        traffic.at(start_s + self.on_s, partial(self.pause, traffic))
        traffic.at(start_s + self.on_s + self.off_s, partial(self.resume, traffic))

    def pause(self, traffic: Traffic) -> None:
        """Write no further data."""
        sender = self.connection.sender
        assert sender is not None
        traffic.leave(sender)

    def resume(self, traffic: Traffic) -> None:
        """Write again."""
        sender = self.connection.sender
        assert sender is not None
        self.connection.attach(traffic, sender)


class PausedWatch(Watch):
    """Recorder of the window of a connection whose application pauses."""

    def __init__(self, on_s: float, off_s: float, seed: int) -> None:
        super().__init__(None, 0.0, seed)
        self.on_s = on_s
        self.off_s = off_s

    def __call__(self, places: Places, flows: Sequence[Driven]) -> Self:
        """Start recording, and give the connection an application that pauses."""
        super().__call__(places, flows)
        [connection] = self.connections
        application = OnOff(connection, self.on_s, self.off_s)
        connection.begin = application.begin  # type: ignore[method-assign]
        for end in filter(None, (connection.client, connection.listener)):
            limit_unsent(end, UNSENT_BYTES)
        return self


def main() -> None:
    """Make the run, which starts at a fixed time, and print its windows."""
    scenario, seed, on_s, off_s = sys.argv[1:]
    tree: dict[str, Any] = {**json.loads(scenario), "seed": int(seed)}
    RECEIVE_LIMIT.write_text(str(2 * WINDOW_PACKETS * 1460))
    sleep_until(START_S)
    watch = PausedWatch(float(on_s), float(off_s), int(seed))
    emulate(tree, sysctl=SYSCTLS, watch=watch)
    print(json.dumps(watch.track()))


if __name__ == "__main__":
    main()
