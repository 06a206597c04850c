"""Answers as a scenario, with what each line means."""

from collections import Counter
from collections.abc import Iterator

from lasthop.first.answers import DISCIPLINES, Answers, Traffic

__all__ = ["scenario"]


def scenario(answers: Answers, name: str) -> str:
    """The answers as a scenario, each line with what it means; `name` is the file's."""
    lines = [
        f"# {name}: made by lasthop init. Every line may be changed; docs/reference/scenario.md",
        "# and `lasthop schema` list what else there is.",
        "#",
        f"#   lasthop check {name}       what is in it",
        f"#   lasthop predict {name}     who gets what, by a model",
        f"#   lasthop simulate {name}    the same packet by packet",
        f"#   lasthop compare {name}     both side by side, with a picture",
        f"#   lasthop simulate {name} --set {_what_if(answers)}",
        "#                              what if",
        "",
        said(f'name = "{_title(answers)}"', "the title of tables and pictures"),
        said('duration = "60 s"', "simulated time of a run"),
        said('warmup = "20 s"', "cut from its start, while windows grow"),
        said("replications = 5", "runs; intervals are taken over them"),
        "",
    ]
    lines += _router(answers) if answers.hop == "router" else _cell(answers)
    return "\n".join(lines) + "\n"


def said(line: str, comment: str) -> str:
    """A line with its comment."""
    return f"{line}{' ' * max(34 - len(line), 2)}# {comment}"


def _what_if(answers: Answers) -> str:
    return "queue=20" if answers.hop == "router" else "cell.ap_queue=20"


def _title(answers: Answers) -> str:
    if answers.hop == "router":
        return f"{answers.count} hosts through a router"
    return f"{answers.count} stations of {answers.hop}"


def _queue(answers: Answers, key: str) -> str:
    if answers.queue in DISCIPLINES:
        return said(f"{key} = {{ {answers.queue} = {{}} }}", f"managed by {answers.queue}")
    return said(f"{key} = {answers.queue}", "packets: one more is lost")


def _tcp(congestion: str) -> Iterator[str]:
    yield "[tcp]"
    yield said(f'congestion = "{congestion}"', "or newreno, cubic, compound, ...")
    yield said("window = 42", "segments that a receiver takes at most")


def _cell(answers: Answers) -> Iterator[str]:
    yield "[cell]"
    yield said(f'phy = "{answers.hop}"', "timing, rates and contention windows")
    yield _queue(answers, "ap_queue").replace("packets:", "packets at the access point:")
    yield ""
    if not answers.wire.nothing:
        yield "[wire]"
        if answers.wire.rate_mbps is not None:
            yield said(
                f'rate = "{answers.wire.rate_mbps:g} Mbps"', "from the servers; back_rate to them"
            )
        yield said(f'delay = "{answers.wire.rtt_ms / 2:g} ms"', "one way: half the round trip")
        yield ""
    yield from _tcp("reno")
    for name, count, rate, traffic in _tables(answers):
        yield ""
        yield f"[station.{name}]"
        if count > 1:
            yield said(f"count = {count}", f"{name}-1 to {name}-{count}, all alike")
        yield said(f'rate = "{rate:g} Mbps"', "of its frames, both ways")
        if traffic.up:
            yield said(f"upload = {traffic.up}", "connections from it")
        if traffic.down:
            yield said(f"download = {traffic.down}", "connections to it")
        if not traffic.up and not traffic.down:
            yield "# it sends and receives nothing: upload = 1 or download = 1 changes that"


def _tables(answers: Answers) -> Iterator[tuple[str, int, float, Traffic]]:
    """Stations that are alike, with a name for each sort."""
    rates = [group.rate_mbps for group in answers.stations for _ in range(group.count)]
    sorts = Counter(zip(rates, answers.traffic, strict=True))
    used = Counter[str]()
    for (rate, traffic), count in sorts.items():
        name = "idle"
        if traffic.up or traffic.down:
            name = "both" if traffic.up and traffic.down else "up" if traffic.up else "down"
        name = {"up": "uploader", "down": "downloader"}.get(name, name)
        if len(set(rates)) > 1 and rate == min(rates):
            name = f"slow-{name}"
        used[name] += 1
        yield name if used[name] == 1 else f"{name}-{used[name]}x", count, rate, traffic


def _router(answers: Answers) -> Iterator[str]:
    flows = sum(each.up + each.down for each in answers.traffic)
    wire = answers.wire
    yield _queue(answers, "queue")
    yield ""
    yield "[dumbbell]"
    yield said(f"flows = {flows}", "connections, all from the left to the right")
    yield said(f'access = "{answers.stations[0].rate_mbps:g} Mbps"', "of each sender's own link")
    yield said("access_spread = 0.01", "links differ by 1 %, lest senders fall into step")
    yield said(f'bottleneck = "{wire.rate_mbps or 0.0:g} Mbps"', "of the link that all share")
    yield said(f'rtt = "{wire.rtt_ms:g} ms"', "round trip without queues")
    yield ""
    yield from _tcp("reno")
