"""Sections II and V: a sensor behind a full queue, before and after virtual buffer sharing.

Five sensors get a command and send a report every 5 s on average, beside ten downloads, or beside
five uploads and five downloads.
"""

from typing import TYPE_CHECKING, Any

from lasthop.studies.study import Quantity, Run, Runs, Study, mean_of
from lasthop.studies.vbs import cell

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

SENSOR: dict[str, Any] = {
    "count": 5,
    "sensor_down": "5 s",
    "sensor_up": {"every": "5 s", "transport": "tcp"},
}
QUEUES: dict[str, Any] = {
    "drop_tail": None,
    "vbs": {},
    "regulated": {"algorithm": "regulated"},
}
WORDS = {"drop_tail": "drop-tail", "vbs": "Algorithm 1", "regulated": "regulator"}


def _downloads(queue: str) -> dict[str, Any]:
    setting = cell.BUFFER if QUEUES[queue] is None else cell.shares(**QUEUES[queue])
    stations = {**cell.classes(0.3), "sensor": SENSOR}
    return cell.scenario(f"sensors, downloads, {WORDS[queue]}", stations, queue=setting)


def _mixed(queue: str) -> dict[str, Any]:
    setting: Any = cell.BUFFER
    if QUEUES[queue] is not None:
        classes = {
            "up": {"station": "up", "share": 0.5},
            "down": {"station": "down", "share": 0.5},
        }
        vbs = {"class": classes, "share_of": "service", **QUEUES[queue]}
        setting = {"limit": cell.BUFFER, "vbs": vbs}
    stations = {
        "up": {"count": 5, "upload": 1},
        "down": {"count": 5, "download": 1},
        "sensor": SENSOR,
    }
    return cell.scenario(f"sensors, uploads too, {WORDS[queue]}", stations, queue=setting)


def reports(run: Run, direction: str, quantity: str) -> Quantity:
    """Return a quantity of the sensors' reports one way, the mean over sensors."""
    names = [name for name in run.items("flows") if f"/sensor-{direction}/" in name]
    return mean_of([run.quantity("flows", name, quantity) for name in names])


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the part of commands that arrives."""
    return {
        "delivered_drop_tail": reports(runs["downloads-drop_tail"], "down", "report_delivery"),
        "delivered_vbs": reports(runs["downloads-vbs"], "down", "report_delivery"),
        "delivered_mixed_drop_tail": reports(runs["mixed-drop_tail"], "down", "report_delivery"),
        "delivered_mixed_vbs": reports(runs["mixed-vbs"], "down", "report_delivery"),
    }


def findings(runs: Runs) -> dict[str, str]:
    """Return delays before and after, and where sensors starve."""

    def delays(traffic: str) -> str:
        each = [reports(runs[f"{traffic}-{queue}"], "down", "report_delay_s") for queue in QUEUES]
        return cell.listed([one * 1e3 for one in each])

    plain = reports(runs["downloads-drop_tail"], "down", "report_delivery")
    mixed = reports(runs["mixed-drop_tail"], "down", "report_delivery")
    up = reports(runs["mixed-drop_tail"], "up", "report_delivery")
    return {
        "vbs-15": (
            f"behind drop-tail {plain} of the commands arrive beside ten downloads, {mixed} beside "
            f"five uploads and five downloads; of reports upwards, which do not pass the queue, "
            f"{up}. Delays of commands with drop-tail, Algorithm 1 and regulator: "
            f"{delays('downloads')} ms beside downloads, {delays('mixed')} ms with uploads"
        )
    }


def draw(runs: Runs) -> "Figure":
    """Draw delivery and delay of commands under each queue."""
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    places = [float(k) for k in range(len(QUEUES))]

    def members(quantity: str, scale: float) -> list[Member]:
        return [
            Member(
                word,
                places,
                [reports(runs[f"{traffic}-{queue}"], "down", quantity) * scale for queue in QUEUES],
            )
            for traffic, word in (("downloads", "ten downloads"), ("mixed", "five up, five down"))
        ]

    return family_figure(
        "queue of the AP",
        [
            FamilyPanel("commands that arrive [%]", members("report_delivery", 100.0)),
            FamilyPanel("their delay [ms]", members("report_delay_s", 1e3)),
        ],
        ticks=dict(zip(places, WORDS.values(), strict=True)),
    )


STUDY = Study(
    subject="vbs",
    name="sensor",
    title="Sections II and V: commands to sensors",
    points={
        **{f"downloads-{queue}": _downloads(queue) for queue in QUEUES},
        **{f"mixed-{queue}": _mixed(queue) for queue in QUEUES},
    },
    measure=measure,
    findings=findings,
    draw=draw,
)
