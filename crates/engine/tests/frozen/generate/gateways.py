"""Random gateway files; half of them contain a scenario."""

from functools import partial

from cells import hot_spot
from dice import Dice, Table
from parts import estimator


def gateway(d: Dice) -> Table:
    """Draw a gateway file; in half of the cases it contains a scenario."""
    table = hot_spot(d, 0.05) if d.flag() else {}
    own: Table = {"wan": "eth0", "lan": "eth1"} | d.some(
        0.3,
        {
            "queue": lambda: d.whole(2, 1000),
            "discipline": lambda: d.one(("pfifo", "fq_codel", "sfq")),
            "flow_leaves": lambda: d.whole(2, 512),
            "udp_uplink": lambda: f"{d.whole(10, 900)} kbps",
            "metrics": lambda: d.one(("off", "127.0.0.1:9464", "[::1]:80")),
            "fairness": lambda: d.one(("station", "rate", "flow", "direction")),
            "rate": lambda: d.one(("estimated", f"{d.whole(1, 50)} Mbps")),
            "wce": lambda: estimator(d, 0.3) or {"max": "20 Mbps"},
            "discover": lambda: (
                {"neighbours": True}
                | d.some(
                    0.5,
                    {
                        "leases": lambda: "/var/lib/misc/dnsmasq.leases",
                        "ignore": lambda: "10.0.0.1, fd00::1",
                        "interval": lambda: f"{d.whole(1, 60)} s",
                        "absence": lambda: f"{d.whole(60, 900)} s",
                    },
                )
            ),
        },
    )
    if d.chance(0.6):
        own["ap"] = {
            f"ap{number}": {"subnets": f"10.{number}.0.0/16, fd0{number}::/64"}
            | d.some(
                0.4,
                {
                    "interface": partial("wlan{}".format, number),
                    "wce": lambda: estimator(d, 0.3) or {"max": "8 Mbps"},
                    "fairness": lambda: d.one(("station", "rate", "flow", "direction")),
                    "rate": lambda: d.one(("estimated", f"{d.whole(1, 50)} Mbps")),
                    "snmp": lambda: (
                        {"agent": "192.168.4.2"}
                        | d.some(
                            0.5,
                            {
                                "community": lambda: "monitor",
                                "table": lambda: "1.3.6.1.4.1.9.9.273.1.2.1.1.17",
                            },
                        )
                    ),
                },
            )
            for number in range(d.whole(1, 3))
        }
    if d.chance(0.6):
        own["station"] = {
            f"s{number}": {"address": f"10.0.1.{number}"}
            | d.some(
                0.5,
                {
                    "mac": partial("02:00:5e:10:00:0{}".format, number),
                    "ap": lambda: "ap0" if "ap" in own else "wlan",
                    "rate": lambda: d.one(("11 Mbps", "54 Mbps")),
                },
            )
            for number in range(d.whole(1, 3))
        }
    return table | {"gateway": own}
