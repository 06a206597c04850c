"""Random tables for cells and for wired networks: TCP connections, queues, recorded quantities."""

from dice import Dice, Table, Value, ms

CONGESTION = ("tahoe", "reno", "newreno", "compound", "cubic", "illinois", "africa")


def compound(d: Dice) -> Table:
    """Draw parameters of Compound TCP."""
    return d.some(
        0.6,
        {
            "alpha": lambda: d.number(0, 2),
            "beta": lambda: d.number(0, 0.9),
            "k": lambda: d.number(0, 1),
            "gamma": lambda: d.number(0, 40),
            "zeta": lambda: d.number(0, 2),
        },
    ) or {"gamma": 10}


def tcp(d: Dice, part: float = 0.3) -> Table:
    """Draw settings of TCP connections."""
    table = d.some(
        part,
        {
            "hystart": d.flag,
            "ecn": d.flag,
            "window": lambda: d.whole(1, 80),
            "initial_window": lambda: d.whole(1, 10),
            "delayed_ack": d.flag,
            "ack_delay": lambda: ms(d, 1, 200),
            "ack_processing": lambda: ms(d, 0, 3),
            "mss": lambda: f"{d.whole(200, 2304)} B",
            "header": lambda: f"{d.whole(20, 60)} B",
            "min_rto": lambda: ms(d, 20, 400),
            "initial_rto": lambda: ms(d, 300, 1500),
        },
    )
    if d.chance(0.7):
        table["congestion"] = d.one(CONGESTION)
    if table.get("congestion") == "compound" and d.flag():
        table["compound"] = compound(d)
    if d.chance(0.4) and table.get("congestion", "newreno") != "tahoe":
        table["sack"] = True
        if d.flag():
            table["prr"] = True
    return table


def delay_queue(d: Dice, *, flows: bool) -> Table | str:
    """Draw CoDel for the whole queue, or for each flow (fq_codel)."""
    if d.chance(0.2):
        return ms(d, 1, 8)
    table = d.some(
        0.6,
        {
            "target": lambda: ms(d, 1, 8),
            "interval": lambda: ms(d, 20, 100),
            "ecn": d.flag,
        },
    )
    if flows:
        table |= d.some(
            0.6,
            {"quantum": lambda: f"{d.whole(100, 2000)} B", "queues": lambda: d.whole(1, 64)},
        )
    return table


def red(d: Dice) -> Table:
    """Draw RED with low thresholds."""
    least = d.number(0, 5)
    table = d.some(
        0.5,
        {
            "form": lambda: d.one(("ns-2", "published")),
            "max_p": lambda: d.number(0.01, 0.5),
            "weight": lambda: d.one(("auto", 0, 1, 0.01, d.number(0.001, 1))),
            "gentle": d.flag,
            "wait": d.flag,
            "bytes": d.flag,
            "mean_packet": lambda: f"{d.whole(100, 1500)} B",
            "ecn": d.flag,
        },
    )
    return {"min_th": least, "max_th": round(least + d.number(1, 8), 4), **table}


def queue(d: Dice) -> Value:
    """Draw a queue, mostly with a discipline. The queue is so short that it drops packets."""
    if d.chance(0.15):
        return d.whole(1, 60)
    table: Table = {"limit": d.whole(2, 80)} if d.chance(0.7) else {}
    kind = d.one(("threshold", "red", "proportional", "codel", "pie", "fq_codel", ""))
    match kind:
        case "threshold":
            table = {"threshold": d.whole(1, 20)}
        case "red":
            table["red"] = red(d)
        case "proportional":
            table["proportional"] = {"slope": d.number(0.01, 0.2)} | d.some(0.5, {"ecn": d.flag})
        case "codel":
            table["codel"] = delay_queue(d, flows=False)
        case "fq_codel":
            table["fq_codel"] = delay_queue(d, flows=True)
        case "pie":
            table["pie"] = (
                d.some(
                    0.6,
                    {
                        "target": lambda: ms(d, 1, 15),
                        "update": lambda: ms(d, 2, 15),
                        "alpha": lambda: d.number(0.05, 0.5),
                        "beta": lambda: d.number(0.5, 2),
                        "max_burst": lambda: ms(d, 0, 50),
                        "ecn": d.flag,
                    },
                )
                if d.chance(0.8)
                else ms(d, 2, 15)
            )
    return table or {"limit": 20}


def estimator(d: Dice, part: float) -> Table:
    """Draw settings of the capacity estimator."""
    return d.some(
        part,
        {
            "max": lambda: f"{d.number(4, 30):g} Mbps",
            "min": lambda: f"{d.whole(50, 900)} kbps",
            "interval": lambda: ms(d, 10, 100),
            "low": lambda: ms(d, 1, 9),
            "threshold": lambda: ms(d, 10, 60),
            "high": lambda: ms(d, 80, 300),
            "increase": lambda: f"{d.whole(1, 30)} kbps",
            "decrease": lambda: f"{d.whole(40, 200)} kbps",
            "speed_up": lambda: d.number(1.01, 1.5),
            "back_off": lambda: d.number(0.3, 0.95),
            "timeout": lambda: ms(d, 400, 3000),
        },
    )


def record(d: Dice) -> Table:
    """Draw the quantities to record."""
    return d.some(
        0.5,
        {
            "series_interval": lambda: d.one((ms(d, 10, 60), "never")),
            "utilisation_bin": lambda: ms(d, 20, 200),
            "frames": lambda: d.whole(0, 300),
        },
    )


def head(d: Dice, low_ms: int = 500, high_ms: int = 1200) -> Table:
    """Draw duration, warm-up and seed."""
    duration = d.whole(low_ms, high_ms)
    table: Table = {
        "duration": f"{duration} ms",
        "replications": d.one((1, 2, 2, 3)),
        "seed": d.whole(0, 10**9),
    }
    table |= d.some(
        0.3,
        {
            "name": lambda: "any name",
            "warmup": lambda: f"{duration // 5} ms",
            "stagger": lambda: ms(d, 0, 20),
        },
    )
    if d.chance(0.35) and (recorded := record(d)):
        table["record"] = recorded
    return table
