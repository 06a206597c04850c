"""Set up a gateway with a queue discipline, damage and repair it, and run `plan`."""

import json
import sys
import tempfile
from pathlib import Path
from unittest import mock

from lab import gateway_text, log_in, sh
from lasthop.daemon.differences import summarised
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.config import Gateway
from lasthop.enforce.gateway.shaper import Shaper, plan
from lasthop.linux import rights
from shown import in_batches, state

LEAF = "parent 6c68:100"
DAMAGES = {
    "fq_codel": [
        f"tc qdisc change dev lh-lan {LEAF} fq_codel target 50ms",
        f"tc qdisc change dev lh-lan {LEAF} fq_codel noecn limit 7",
        f"tc qdisc replace dev lh-lan {LEAF} pfifo limit 200",
        f"tc qdisc del dev lh-lan {LEAF}",
    ],
    "cake": [
        f"tc qdisc change dev lh-lan {LEAF} cake bandwidth 1mbit overhead 40 atm",
        f"tc qdisc change dev lh-lan {LEAF} cake nat dual-srchost diffserv4 memlimit 1mb",
        f"tc qdisc change dev lh-lan {LEAF} cake rtt 10ms ack-filter ingress mpu 64 wash",
        f"tc qdisc replace dev lh-lan {LEAF} pfifo limit 200",
        f"tc qdisc del dev lh-lan {LEAF}",
    ],
    "codel": [
        f"tc qdisc change dev lh-lan {LEAF} codel interval 20ms",
        f"tc qdisc replace dev lh-lan {LEAF} fq_codel",
        f"tc qdisc del dev lh-lan {LEAF}",
    ],
}


def main(word: str, more: str) -> dict[str, object]:
    """Set up, damage, repair and remove a gateway, and run the commands of its plan."""
    gateway = config.read(gateway_text(2, more, discipline=word))
    links = [f"ip link add {name} type veth peer name {name}1" for name in ("wan", "lan")]
    in_batches([*links, *(f"ip link set {name} up" for name in ("wan", "wan1", "lan", "lan1"))])
    directory = Path(tempfile.mkdtemp())
    seen: dict[str, object] = {"tried": rights.tried(word)._asdict()}
    with Shaper(gateway, log_in(directory)) as shaper:
        shaper.up(gateway.stations)
        layout = shaper.running()
        seen["discipline"] = layout.discipline
        seen["faults"] = shaper.faults()
        seen["up"] = state()
        damaged, mended = [], []
        for damage in DAMAGES[layout.discipline] if layout.members["s0"].has_own_leaf else []:
            sh(damage)
            differences = shaper.differences()
            damaged.append(summarised(differences))
            shaper.repair(differences)
            mended.append(state() == seen["up"] and shaper.faults() == [])
        seen |= {"damaged": damaged, "mended": mended, "counted": len(shaper.counters())}
        remaining = shaper.down()
    seen["kept"] = remaining + without_programs(gateway, directory, seen)
    in_batches(plan(gateway, by_mac=False))
    seen["planned"] = state()
    return seen


def without_programs(gateway: Gateway, directory: Path, seen: dict[str, object]) -> list[str]:
    """Set a gateway up with u32 filters, and remove it. Return a message for each change that was
    not reverted.
    """
    refuse = mock.patch.object(Shaper, "has_programs", return_value=False)
    with refuse, Shaper(gateway, log_in(directory)) as shaper:
        shaper.up(gateway.stations)
        seen["by_address"] = state()
        return shaper.down()


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
