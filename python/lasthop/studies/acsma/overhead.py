"""Table 6.5: the fraction of CPU time in which a user sends data (5.50), with n-ACK in topology
a.
"""

from lasthop.studies.acsma import network
from lasthop.studies.acsma.network import LIGHT, LINKS, NACK
from lasthop.studies.study import Quantity, Run, Runs, Study, about, listed
from lasthop.studies.sweep import points_of


def efficiency(run: Run, user: int) -> Quantity:
    """Return a user's efficiency (5.50), which is the fraction of CPU time for sending data. [-]

    The other part of the CPU time opens and closes connections.
    """
    from lasthop.models.acsma.overhead import PENTIUM_4

    measured_s = network.DURATION_S - network.WARMUP_S
    name = f"user-{user}"
    opened = run.quantity("flows", name, "connections_opened")
    closed = run.quantity("flows", name, "connections_closed")
    sending = network.rate(run, user) * (measured_s * PENTIUM_4.packet_s)
    return sending / (sending + opened * PENTIUM_4.open_s + closed * PENTIUM_4.close_s)


def _measure(runs: Runs) -> dict[str, Quantity]:
    each = {user: efficiency(NACK.run(runs), user) for user in LINKS}
    return {
        **{f"efficiency_{user}": item for user, item in each.items()},
        **{f"overhead_{user}": network.known(1.0) - item for user, item in each.items()},
    }


def _finding(runs: Runs) -> str:
    light = listed(network.of_all(efficiency, LIGHT.run(runs)))
    return (
        "the efficiency falls with the number of connections that are opened, and user 2 opens "
        "more of them here than in the paper. With ACKs as short as their bytes (C = "
        f"{network.LIGHT_PPS}) it is {light}"
    )


STUDY = Study(
    key="acsma-table6_5",
    title="Table 6.5: CPU time of opening and closing connections",
    points=points_of(NACK, LIGHT),
    measure=_measure,
    findings=about("acsma-13", _finding),
)
