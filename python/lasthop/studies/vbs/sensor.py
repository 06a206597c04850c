"""Sections II and V: sensors with a full queue at the access point, without and with virtual buffer
sharing.

Each of five sensors gets a command and sends a report every 5 s on average. The other traffic is
ten downloads, or five uploads and five downloads.
"""

from typing import Any

from lasthop.studies.picture import Abscissa, Panel, Picture, evenly
from lasthop.studies.study import Quantity, Reading, Run, Runs, Study, about, listed, mean_of
from lasthop.studies.sweep import Sweep
from lasthop.studies.vbs import cell

SENSOR: dict[str, Any] = {
    "count": 5,
    "sensor_down": "5 s",
    "sensor_up": {"every": "5 s", "transport": "tcp"},
}
WORDS = {
    "drop_tail": "drop-tail",
    "vbs": "Algorithm 1",
    "regulated": "regulator",
    "downloads": "ten downloads",
    "mixed": "five up, five down",
}
TRAFFIC = ("downloads", "mixed")
QUEUES = ("drop_tail", "vbs", "regulated")


def _queue(queue: str, **more: Any) -> Any:
    return cell.BUFFER if queue == "drop_tail" else cell.shares(**more, **cell.ALGORITHMS[queue])


def _downloads(queue: str) -> dict[str, Any]:
    stations = {**cell.classes(0.3), "sensor": SENSOR}
    return cell.scenario(f"sensors, downloads, {WORDS[queue]}", stations, queue=_queue(queue))


def _mixed(queue: str) -> dict[str, Any]:
    setting = _queue(queue, names=("up", "down"), share_of="service")
    stations = {
        "up": {"count": 5, "upload": 1},
        "down": {"count": 5, "download": 1},
        "sensor": SENSOR,
    }
    return cell.scenario(f"sensors, uploads too, {WORDS[queue]}", stations, queue=setting)


def reports(direction: str, quantity: str) -> Reading:
    """Return the reading of a quantity of the sensors' reports in one direction, averaged over
    sensors.
    """

    def read(run: Run) -> Quantity:
        names = [name for name in run.items("flows") if f"/sensor-{direction}/" in name]
        return mean_of([run.quantity("flows", name, quantity) for name in names])

    return Reading(read)


DELIVERY = reports("down", "report_delivery")
"""Fraction of the commands to sensors that arrive. [-]"""

DELAY_MS = reports("down", "report_delay_s") * 1e3
"""Mean delay of commands to sensors. [ms]"""


SWEEP = Sweep(
    "{traffic}-{queue}",
    lambda traffic, queue: (_downloads if traffic == "downloads" else _mixed)(queue),
    {"traffic": TRAFFIC, "queue": QUEUES},
    words=WORDS,
)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the fraction of the commands to sensors that arrive."""
    some = SWEEP.at(queue=["drop_tail", "vbs"])
    return some.at(traffic="downloads").values(runs, {"delivered_{queue}": DELIVERY}) | some.at(
        traffic="mixed"
    ).values(runs, {"delivered_mixed_{queue}": DELIVERY})


def finding(runs: Runs) -> str:
    """Return a text on delays without and with buffer sharing, and on conditions under which
    sensors starve.
    """
    delays, delays_mixed = (
        listed(SWEEP.at(traffic=traffic).read(runs, DELAY_MS)) for traffic in TRAFFIC
    )
    plain, mixed = SWEEP.at(queue="drop_tail").runs(runs)
    up = reports("up", "report_delivery")(mixed)
    return (
        f"with drop-tail, a fraction of {DELIVERY(plain)} of the commands arrives together with "
        f"ten downloads, and {DELIVERY(mixed)} together with five uploads and five downloads. "
        f"Reports in the uplink do not pass the queue, and {up} of them arrive. The delays of "
        f"commands with drop-tail, Algorithm 1 and the regulator are {delays} ms with downloads, "
        f"and {delays_mixed} ms with uploads"
    )


PICTURE = Picture(
    Abscissa("queue of the AP", evenly(QUEUES), {queue: WORDS[queue] for queue in QUEUES}),
    [
        Panel(label, SWEEP.lines("{traffic}", "queue", reading))
        for label, reading in (
            ("commands that arrive [%]", DELIVERY * 100.0),
            ("their delay [ms]", DELAY_MS),
        )
    ],
)

STUDY = Study(
    key="vbs-sensor",
    title="Sections II and V: commands to sensors",
    points=SWEEP.points(),
    measure=measure,
    findings=about("vbs-15", finding),
    draw=PICTURE.draw,
)
