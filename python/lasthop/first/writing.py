"""Answers as a scenario, with what each line means."""

from collections import Counter
from collections.abc import Iterator

from lasthop.access_points import FACTS, KINDS
from lasthop.first.answers import Answers, Group, Traffic

__all__ = ["scenario"]


WIDTH_MHZ = {"802.11n": 20, "802.11ac": 80, "802.11ax": 80}
"""Usual widths of a channel. [MHz]"""


def scenario(answers: Answers, name: str) -> str:
    """Return the answers as a scenario with commented lines; `name` is the file's."""
    lines = [
        f"# {name}: made by lasthop init. Every line may be changed.",
        "# `lasthop schema` lists all keys.",
        "#",
        *_commands(answers, name),
        *_what_if(answers, name),
        "",
        said(f'name = "{_title(answers)}"', "the title of tables and pictures"),
        said('duration = "60 s"', "simulated time of a run"),
        said('warmup = "20 s"', "cut from its start, while windows grow"),
        said("replications = 5", "runs; intervals are taken over them"),
        "",
    ]
    lines += _router(answers) if answers.hop == "router" else _cell(answers)
    return "\n".join(lines) + "\n"


def _commands(answers: Answers, name: str) -> Iterator[str]:
    """What can be done with the file, a line each."""
    yield f"#   lasthop check {name}       a summary of it"
    if answers.aggregates:  # Models know such cells with datagrams alone.
        yield f"#   lasthop simulate {name}    share of each station, packet by packet"
        yield f"#   lasthop simulate {name} --plot    with a picture"
        return
    yield f"#   lasthop predict {name}     share of each station, by a model"
    yield f"#   lasthop simulate {name}    share of each station, packet by packet"
    yield f"#   lasthop compare {name}     both side by side, with a picture"


def said(line: str, comment: str) -> str:
    """Return a line with its comment."""
    return f"{line}{' ' * max(34 - len(line), 2)}# {comment}"


def _what_if(answers: Answers, name: str) -> Iterator[str]:
    """Other queues; a bare number would leave a discipline as it is."""
    key = "queue" if answers.hop == "router" else "cell.ap_queue"
    limit = 100 if answers.aggregates else 20
    kind = KINDS.get(answers.queue)
    is_fifo = kind.is_fifo if kind else answers.queue.isdigit()
    queues = [
        (f"{key}={limit}", f"the queue held {limit} packets")
        if is_fifo
        else (f"'{key}={{ limit = {limit} }}'", f"the queue were a FIFO of {limit} packets")
    ]
    if answers.aggregates and is_fifo:
        queues.append((f"'{key}={{ mac80211 = {{}} }}'", "it were that of a Linux access point"))
    for setting, what in queues:
        yield f"#   lasthop simulate {name} --set {setting}"
        yield f"#                              what if {what}"


def _title(answers: Answers) -> str:
    if answers.hop == "router":
        return f"{answers.count} hosts through a router"
    kind = KINDS.get(answers.queue)
    return f"{answers.count} stations of {answers.hop}" + (f", {kind.what}" if kind else "")


def _queue(answers: Answers, key: str) -> str:
    if answers.queue.isdigit():
        return said(f"{key} = {answers.queue}", "packets: one more is lost")
    return said(f"{key} = {{ {answers.queue} = {{}} }}", f"managed by {answers.queue}")


def _tcp(answers: Answers) -> Iterator[str]:
    yield "[tcp]"
    if answers.aggregates:
        yield said('congestion = "cubic"', "or reno, newreno, ...; lasthop check prints the others")
        return
    yield said('congestion = "reno"', "or newreno, cubic, compound, ...")
    yield said("window = 42", "segments that a receiver takes at most")


def _cell(answers: Answers) -> Iterator[str]:
    yield "[cell]"
    yield said(f'phy = "{answers.hop}"', "timing, rates and contention windows")
    kind = KINDS.get(answers.queue)
    if answers.aggregates:
        width_mhz = {**WIDTH_MHZ, **(kind.width_mhz if kind else {})}[answers.hop]
        source = f": {kind.width_source}" if kind else ""
        yield said(f'width = "{width_mhz} MHz"', f"of the channel{source}")
        yield said("streams = 2", "spatial streams of each station, as phones and laptops have")
    if kind:
        yield from kind.lines(answers.hop)
    else:
        if answers.aggregates:
            fact = FACTS["any-edca"]
            yield said(fact.line, f"access parameters: {fact.short}, as access points have")
        yield _queue(answers, "ap_queue").replace("packets:", "packets at the access point:")
    yield ""
    if not answers.wire.nothing:
        yield "[wire]"
        if answers.wire.rate_mbps is not None:
            both = "; back_rate to them" if answers.wire.back_mbps is None else ""
            yield said(f'rate = "{answers.wire.rate_mbps:.12g} Mbps"', f"from the servers{both}")
        if answers.wire.back_mbps is not None:
            yield said(f'back_rate = "{answers.wire.back_mbps:.12g} Mbps"', "to the servers")
        yield said(f'delay = "{answers.wire.rtt_ms / 2:g} ms"', "one way: half the round trip")
        yield ""
    yield from _tcp(answers)
    for name, group, traffic in _tables(answers):
        yield ""
        yield f"[station.{name}]"
        if group.count > 1:
            yield said(f"count = {group.count}", f"{name}-1 to {name}-{group.count}, all alike")
        if group.snr_db is None:
            yield said(f'rate = "{group.rate_mbps:g} Mbps"', "of its frames, both ways")
        else:
            yield said(f'snr = "{group.snr_db:g} dB"', "of its frames, both ways: chooses the MCS")
        if traffic.up:
            yield said(f"upload = {traffic.up}", "connections from it")
        if traffic.down:
            yield said(f"download = {traffic.down}", "connections to it")
        if not traffic.up and not traffic.down:
            yield "# it sends and receives nothing: upload = 1 or download = 1 changes that"


def _tables(answers: Answers) -> Iterator[tuple[str, Group, Traffic]]:
    """Stations that are alike, with a name for each sort."""
    alike = [
        (group.rate_mbps, group.snr_db) for group in answers.stations for _ in range(group.count)
    ]
    sorts = Counter(zip(alike, answers.traffic, strict=True))
    slowest = min(alike, key=lambda own: own[0] or own[1] or 0.0)
    used = Counter[str]()
    for (own, traffic), count in sorts.items():
        name = "idle"
        if traffic.up or traffic.down:
            name = "both" if traffic.up and traffic.down else "up" if traffic.up else "down"
        name = {"up": "uploader", "down": "downloader"}.get(name, name)
        if len(set(alike)) > 1 and own == slowest:
            name = f"{'far' if answers.aggregates else 'slow'}-{name}"
        used[name] += 1
        unique = name if used[name] == 1 else f"{name}-{used[name]}x"
        yield unique, Group(count, *own), traffic


def _router(answers: Answers) -> Iterator[str]:
    flows = sum(each.up + each.down for each in answers.traffic)
    wire = answers.wire
    yield _queue(answers, "queue")
    yield ""
    yield "[dumbbell]"
    yield said(f"flows = {flows}", "connections, all from the left to the right")
    yield said(f'access = "{answers.stations[0].rate_mbps:g} Mbps"', "of each sender's own link")
    yield said("access_spread = 0.01", "links differ by 1 %, to keep senders from synchronising")
    yield said(f'bottleneck = "{wire.rate_mbps or 0.0:.12g} Mbps"', "of the link that all share")
    yield said(f'rtt = "{wire.rtt_ms:g} ms"', "round trip without queues")
    yield ""
    yield from _tcp(answers)
