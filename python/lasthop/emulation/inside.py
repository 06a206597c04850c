"""Program that runs an emulation inside a user-mode Linux."""

import os
import pickle

from lasthop.emulation.emulate import carry_out
from lasthop.emulation.virtual import INSIDE, PROGRESS, REQUEST, RESULT
from lasthop.uml.init import sleep_until

START_S = 60
"""Time on the kernel's clock at which each emulation starts. [s]

With a fixed time, the emulation does not depend on the time that Python needs to start.
"""


def main() -> None:
    """Read the request of an emulation, run the emulation, and write its result or its error."""
    request = pickle.loads((INSIDE / REQUEST).read_bytes())
    progress = os.open(INSIDE / PROGRESS, os.O_WRONLY | os.O_CREAT, 0o600)

    def report(now_s: float, _duration_s: float) -> None:
        os.pwrite(progress, f"{now_s:12.6f}".encode(), 0)

    sleep_until(START_S)
    try:
        outcome: object = carry_out(request, report)
    except Exception as error:
        outcome = error
    (INSIDE / RESULT).write_bytes(pickle.dumps(outcome))
