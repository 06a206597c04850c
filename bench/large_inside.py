"""Simulate a file from Python for `large.py`: `large_inside.py FILE SETTINGS` also reads the
warnings.
"""

import json
import sys
import time

from measure import high_water_mark_kb


def main(file: str, settings: str) -> None:
    """Simulate, and print the memory that is used in addition to that of the Python interpreter."""
    idle_kb = high_water_mark_kb("self")
    import lasthop as lh

    result = lh.simulate(file, settings=json.loads(settings), replications=1, jobs=1)
    _ = result.warnings  # as on the command line: to compute the warnings, the scenario is read
    packets = result.estimates("totals", "packets_delivered")["run"].mean
    cpu_s, peak_kb = time.process_time(), high_water_mark_kb("self")
    usage = {"cpu_s": cpu_s, "peak_mib": (peak_kb - idle_kb) / 1024, "packets": round(packets)}
    print(json.dumps(usage))


if __name__ == "__main__":
    main(*sys.argv[1:])
