"""Matching of measured qdiscs with the queues of a scenario, by name or because there is only one.

The qdisc of the machine that measured matches the queue of this machine's station. The qdisc of
another host matches the queue with the host's name, or the queue that the user named. If there is
no such queue, the qdisc matches the only queue that belongs to no station. If several queues belong
to no station, the values are reported, but not compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lasthop.measured.observed import Measurement, Queue

__all__ = ["Queues", "match_queues"]


@dataclass(frozen=True)
class Queues:
    """Names of a scenario's queues.

    Attributes
    ----------
    stations : sequence of str
        Queues of stations.
    others : sequence of str
        Queues of the access point, the wire and links.
    """

    stations: Sequence[str] = ()
    others: Sequence[str] = ()

    def __contains__(self, name: str) -> bool:
        return name in self.stations or name in self.others


def match_queues(
    queues: Queues,
    name: str,
    measurement: Measurement,
    samples: Mapping[tuple[str, str, str], list[float]],
) -> Iterator[str]:
    """Add the statistics of a measurement's qdiscs to the samples of queues. Yield a message per
    qdisc.

    Parameters
    ----------
    queues : Queues
        Queues of the scenario.
    name : str
        Name that the user set for the file, or an empty name.
    measurement : Measurement
        Measurement whose qdiscs are matched.
    samples : mapping
        Values by list, name and quantity; the function adds values.
    """
    for qdisc in measurement.queues:
        whose = f"the qdisc of {qdisc.host}" if qdisc.host else "its own qdisc"
        queue = _queue_of(qdisc, queues, name, measurement)
        if queue is None:
            hint = _hint(qdisc, queues, measurement)
            yield f"{measurement.source}: {whose}: {_values(qdisc)}: left out{hint}"
            continue
        for place, value in _placed(qdisc, queue, queues):
            samples[place].append(value)
        yield f"{measurement.source}: {whose} is the queue {queue}"


def _queue_of(qdisc: Queue, queues: Queues, name: str, measurement: Measurement) -> str | None:
    """Return the queue of the scenario that matches a qdisc; None if no queue matches."""
    if not qdisc.host:
        if name in queues.stations:
            return name
        return queues.stations[0] if len(queues.stations) == 1 and not name else None
    if qdisc.host in queues:
        return qdisc.host
    if name in queues.others and sum(bool(each.host) for each in measurement.queues) == 1:
        return name
    hosts = {each.host for each in measurement.queues if each.host and each.host not in queues}
    return queues.others[0] if len(queues.others) == 1 and len(hosts) == 1 else None


def _placed(
    qdisc: Queue, queue: str, queues: Queues
) -> Iterator[tuple[tuple[str, str, str], float]]:
    """Yield the known values of a qdisc. Each value has its place in the result: a list, the name
    of an item, and a quantity. The queue length of a station or access point is a quantity of this
    node. The length of another queue is a quantity of the queue."""
    length = ("queues", queue, "occupancy_packets")
    if queue in queues.stations:
        length = ("stations", queue, "queue_packets")
    elif queue == "ap":
        length = ("aps", queue, "queue_packets")
    known = {
        length: qdisc.packets,
        ("queues", queue, "sojourn_s"): qdisc.sojourn_s,
        ("queues", queue, "drop_probability"): qdisc.drop_probability,
    }
    yield from ((place, value) for place, value in known.items() if value is not None)


def _values(qdisc: Queue) -> str:
    lines = []
    if qdisc.sojourn_s is not None:
        lines.append(f"mean delay {qdisc.sojourn_s * 1e3:.3g} ms")
    if qdisc.packets is not None:
        lines.append(f"{qdisc.packets:.3g} packets")
    return ", ".join(lines)


def _hint(qdisc: Queue, queues: Queues, measurement: Measurement) -> str:
    """Return a hint on how --measured can name the queue of a qdisc; empty if no name can help."""
    known = queues.others if qdisc.host else queues.stations
    alike = [each for each in measurement.queues if bool(each.host) == bool(qdisc.host)]
    if not known or len(alike) > 1:
        return ""
    return f"; --measured NAME=FILE with NAME of {', '.join(known[:4])} compares it"
