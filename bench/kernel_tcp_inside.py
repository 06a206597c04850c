"""One run of `kernel_tcp_virtual.py` inside user-mode Linux."""

import json
import pickle
from pathlib import Path

from kernel_tcp import RECEIVE_LIMIT, emulated, set_parameters
from kernel_tcp_points import WINDOW_PACKETS

from lasthop.emulation.inside import START_S
from lasthop.uml.init import sleep_until

EXCHANGE = Path("/exchange")
RUN, SEEN = "run.pickle", "seen.json"
"""Names of two files in the exchange folder. The first file contains the run to make and its
duration, and the second file contains the results of the run."""


def main() -> None:
    """Make the run, which starts at a fixed time, and write its results."""
    run, seconds = pickle.loads((EXCHANGE / RUN).read_bytes())
    RECEIVE_LIMIT.write_text(str(2 * WINDOW_PACKETS * 1460))
    sleep_until(START_S)
    with set_parameters(run.variant.parameters):
        seen = emulated(run, seconds)
    (EXCHANGE / SEEN).write_text(json.dumps(seen))


if __name__ == "__main__":
    main()
