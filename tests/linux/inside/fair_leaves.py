"""Let packets wait in a class of HTB whose queue is fair, and print the counters of the class."""

import json
import socket
import subprocess
import sys

from lasthop.linux import links
from lasthop.linux.counters import class_counters
from lasthop.linux.netlink import Socket

PACKETS, PORT = 20, 9


def main(discipline: str) -> dict[str, int]:
    """Set up HTB with one class whose queue is `discipline`. Fill the queue, and return the packet
    counters of the class.
    """
    commands = [
        "ip link add slow type dummy",
        "ip link set slow up",
        "ip address add 192.0.2.1/24 dev slow",
        "ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev slow",
        "tc qdisc add dev slow root handle 1: htb default 1",
        "tc class add dev slow parent 1: classid 1:1 htb rate 8kbit burst 1600",
        f"tc qdisc add dev slow parent 1:1 {discipline}",
    ]
    subprocess.run(["sh", "-ec", "\n".join(commands)], check=True)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for number in range(PACKETS):
            sender.sendto(bytes(1000), ("192.0.2.2", PORT + number))
    with Socket() as kernel:
        by_class = class_counters(kernel, links.index_of("slow"))
    [(handle, counters)] = by_class.items()
    packets = counters.sent_packets + counters.backlog_packets
    return {"class": handle, "packets": packets, "waiting": counters.backlog_packets}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
