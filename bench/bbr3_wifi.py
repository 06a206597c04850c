"""Print the shares of BBR v1 and BBR v3 next to CUBIC at one access point.

.venv/bin/python bench/bbr3_wifi.py            ten seeds, 40 s each: about 17 minutes of CPU time
.venv/bin/python bench/bbr3_wifi.py --short    one seed, 15 s each: under one minute of CPU time
"""

import argparse

from measure import require_release_build

import lasthop as lh
from lasthop.studies.bbr_wifi.sharing import QUEUES, WORDS
from lasthop.studies.bbr_wifi.version3 import BOTH, CONTROLS

#: Settings of the short form.
SHORT = {"duration": "15 s", "warmup": "5 s", "replications": 1}


def share(phy: str, direction: str, queue: int | str, control: str, is_short: bool) -> float:
    """Return the share of the goodput that a version of BBR gets next to CUBIC."""
    scenario = BOTH.scenario(phy=phy, direction=direction, queue=queue, control=control)
    result = lh.simulate({**scenario, **(SHORT if is_short else {})})
    goodputs = {item["name"]: item["goodput_bps"]["mean"] for item in result.to_dict()["stations"]}
    return float(goodputs[control] / (goodputs[control] + goodputs["cubic"]))


def main(is_short: bool) -> None:
    """Print one row per queue and version."""
    columns = [(direction, phy) for direction in ("down", "up") for phy in ("ax", "ac")]
    print(f"{'queue':14}{'control':9}" + "".join(f"{d + ' ' + p:>9}" for d, p in columns))
    for queue in QUEUES:
        for control in CONTROLS:
            shares = [share(phy, way, queue, control, is_short) for way, phy in columns]
            row = "".join(f"{value:9.3f}" for value in shares)
            print(f"{WORDS[queue]:14}{control:9}{row}", flush=True)


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description="BBR v1 and v3 next to CUBIC in Wi-Fi cells")
    parser.add_argument("--short", action="store_true", help="one seed and 15 s per cell")
    main(parser.parse_args().short)
