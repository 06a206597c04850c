"""Scenario files from answers; a comment explains each line of the file."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from lasthop.init.answers import FAR_DB, NEAR_DB, OLD_PHY, Answers, Group, Traffic
from lasthop.scenario.access_points import FACTS, KINDS

__all__ = ["next_command", "scenario"]


SHAPER_PART = 0.9
"""Rate of a shaper as a fraction of its line's rate. Below 1, packets wait in the shaper. [-]"""

DEFAULT_SHAPER_MBPS = 100.0
"""Rate of a shaper if the line has no rate limit. [Mb/s]"""

MIN_SHARING = 2
"""Minimum number of stations with connections for which a command has the objective fairness."""

WIDTH_MHZ = {"802.11n": 20, "802.11ac": 80, "802.11ax": 80}
"""Usual channel width of each standard. [MHz]"""


def scenario(answers: Answers, name: str) -> str:
    """Return the text of the scenario file for these answers; `name` is the name of the file."""
    lines = [
        f"# {name}: made by lasthop init. Every line may be changed.",
        "# `lasthop schema` lists all keys.",
        "#",
        *_general_commands(answers, name),
        *(_what_if(answers, name) if answers.compares_models else _question_lines(answers)),
        "",
        with_comment(f'name = "{_title(answers)}"', "the title of tables and pictures"),
        *_run(answers),
        "",
    ]
    lines += _router(answers) if answers.hop == "router" else _cell(answers)
    lines += _answer_lines(answers, name)
    return "\n".join(lines) + "\n"


def next_command(answers: Answers, name: str) -> str:
    """Return the command that best answers the user's question."""
    commands = answers.chosen_aim.commands
    compares = "compare FILE" if _is_predicted(answers) else "simulate FILE"
    arguments = commands[0].arguments if commands else compares
    return f"lasthop {_filled_in(arguments, answers, name)}"


def _run(answers: Answers) -> Iterator[str]:
    duration, warmup = ("60 s", "20 s") if answers.compares_models else ("20 s", "5 s")
    yield with_comment(f'duration = "{duration}"', "simulated time of a run")
    yield with_comment(f'warmup = "{warmup}"', "cut from its start, while windows grow")
    yield with_comment("replications = 5", "runs; intervals are taken over them")


def _question_lines(answers: Answers) -> Iterator[str]:
    """Yield comment lines with the question of the user."""
    yield "#"
    yield f"# {answers.chosen_aim.question}"
    yield "# The commands that answer this question are at the end of this file."


def _answer_lines(answers: Answers, name: str) -> Iterator[str]:
    """Yield comment lines with the commands that answer the user's question, each with its
    purpose.
    """
    if answers.compares_models:
        return
    yield ""
    yield "# Commands that answer the question above:"
    for command in answers.chosen_aim.commands:
        words = _filled_in(command.arguments, answers, name)
        if words.startswith("what-if") and "--case" not in words:
            continue
        if words.startswith("tune") and not any(own.calls for own in answers.traffic):
            continue
        purpose = command.purpose if _without_slowest(answers) else command.rest or command.purpose
        yield "#"
        yield f"# {purpose[0].upper()}{purpose[1:]}:"
        yield f"#   lasthop {words}"
    yield "#"
    yield "# `lasthop explain TERM` explains a word, such as `lasthop explain bufferbloat`."


def _filled_in(words: str, answers: Answers, name: str) -> str:
    """Return the arguments of a command for this file, without the options that the scenario
    refuses.
    """
    rate_mbps = answers.wire.rate_mbps or DEFAULT_SHAPER_MBPS
    without, voice = _without_slowest(answers), _in_voice(answers)
    refused = [
        *([] if without else [r"\{without\}"]),
        *([] if voice else [r"\{voice\}"]),
        *([] if answers.aggregates else ["mac80211"]),
        *([] if answers.wire.rate_mbps else [r"wire\."]),
    ]
    for part in refused:
        words = re.sub(rf' --case "[^"]*{part}[^"]*"', "", words)
    if sum(bool(own.up or own.down) for own in answers.traffic) < MIN_SHARING:
        words = words.replace(" --for fairness", "")
    values = {
        "FILE": name,
        "{rate}": f"{SHAPER_PART * rate_mbps:.6g} Mbps",
        "{faster}": f"{2 * rate_mbps:.6g} Mbps",
        "{without}": without,
        "{voice}": voice,
    }
    for word, value in values.items():
        words = words.replace(word, value)
    return words


def _without_slowest(answers: Answers) -> str:
    """Return the settings that stop the connections of the slowest stations.

    The result is empty if all stations are equally fast, if the slowest stations have only calls,
    or if no other traffic would remain.
    """
    tables = [*_tables(answers)]
    name, slowest, own = min(tables, key=lambda table: table[1].speed)
    others = [traffic for other, _, traffic in tables if other != name]
    is_slower = any(group.speed > slowest.speed for _, group, _ in tables)
    if not is_slower or (not own.calls and all(traffic.is_empty for traffic in others)):
        return ""
    keys = {"upload": own.up, "download": own.down}
    return "; ".join(f"station.{name}.{key}=0" for key, number in keys.items() if number)


def _in_voice(answers: Answers) -> str:
    """Return the settings that put all calls into category voice; empty if there are no calls."""
    calls = (name for name, _, own in _tables(answers) if own.calls)
    return "; ".join(f"station.{name}.call.category=voice" for name in calls)


def _general_commands(answers: Answers, name: str) -> Iterator[str]:
    """Yield comment lines with the commands that every scenario supports."""
    yield f"#   lasthop check {name}       a summary of it"
    if not _is_predicted(answers):
        yield f"#   lasthop simulate {name}    share of each station, packet by packet"
        yield f"#   lasthop simulate {name} --plot    with a picture"
        return
    yield f"#   lasthop predict {name}     share of each station, by a model"
    yield f"#   lasthop simulate {name}    share of each station, packet by packet"
    yield f"#   lasthop compare {name}     both side by side, with a picture"


def _is_predicted(answers: Answers) -> bool:
    """Return whether a model predicts the scenario. No model predicts TCP in cells that aggregate,
    or calls.
    """
    calls = any(traffic.calls for traffic in answers.traffic)
    return answers.compares_models and not answers.aggregates and not calls


def with_comment(line: str, comment: str) -> str:
    """Return a line of the file with its comment in an aligned column."""
    return f"{line}{' ' * max(34 - len(line), 2)}# {comment}"


def _what_if(answers: Answers, name: str) -> Iterator[str]:
    """Yield comment lines with commands that try other queues."""
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
    before = f"{answers.chosen_aim.title}: " if answers.chosen_aim.title else ""
    stations = f"{answers.count} station{'s' if answers.count > 1 else ''} of {answers.hop}"
    return f"{before}{stations}" + (f", {kind.what}" if kind else "")


def _queue(answers: Answers, key: str) -> str:
    if answers.queue.isdigit():
        return with_comment(f"{key} = {answers.queue}", "packets: one more is lost")
    return with_comment(f"{key} = {{ {answers.queue} = {{}} }}", f"managed by {answers.queue}")


def _tcp(answers: Answers) -> Iterator[str]:
    yield "[tcp]"
    if answers.aggregates:
        yield with_comment(
            'congestion = "cubic"', "or reno, newreno, ...; lasthop check prints the others"
        )
        return
    if not answers.compares_models:
        yield with_comment('congestion = "cubic"', "or reno, newreno, compound, ...")
        yield with_comment("window = 2000", "segments that a receiver takes at most: 3 MB")
        return
    yield with_comment('congestion = "reno"', "or newreno, cubic, compound, ...")
    yield with_comment("window = 42", "segments that a receiver takes at most")


def _cell(answers: Answers) -> Iterator[str]:
    yield "[cell]"
    yield with_comment(f'phy = "{answers.hop}"', "timing, rates and contention windows")
    kind = KINDS.get(answers.queue)
    if answers.aggregates:
        width_mhz = {**WIDTH_MHZ, **(kind.width_mhz if kind else {})}[answers.hop]
        source = f": {kind.width_source}" if kind else ""
        yield with_comment(f'width = "{width_mhz} MHz"', f"of the channel{source}")
        yield with_comment(
            "streams = 2", "spatial streams of each station, as phones and laptops have"
        )
    if kind:
        yield from kind.lines(answers.hop)
    else:
        if answers.aggregates:
            fact = FACTS["any-edca"]
            yield with_comment(fact.line, f"access parameters: {fact.short}, as access points have")
        yield _queue(answers, "ap_queue").replace("packets:", "packets at the access point:")
    yield ""
    if not answers.wire.is_empty:
        yield "[wire]"
        if answers.wire.rate_mbps is not None:
            both = "; back_rate to them" if answers.wire.back_mbps is None else ""
            yield with_comment(
                f'rate = "{answers.wire.rate_mbps:.12g} Mbps"', f"from the servers{both}"
            )
        if answers.wire.back_mbps is not None:
            yield with_comment(
                f'back_rate = "{answers.wire.back_mbps:.12g} Mbps"', "to the servers"
            )
        yield with_comment(
            f'delay = "{answers.wire.rtt_ms / 2:g} ms"', "one way: half the round trip"
        )
        if not answers.compares_models and answers.wire.rate_mbps is not None:
            yield with_comment(
                "queue = 1000", "packets that wait at each end of the line; one more is lost"
            )
        yield ""
    if (
        answers.compares_models or not answers.aggregates
    ):  # Other cells use current TCP settings by default.
        yield from _tcp(answers)
        yield ""
    for number, (name, group, traffic) in enumerate(_tables(answers)):
        if number:
            yield ""
        yield f"[station.{name}]"
        if group.count > 1:
            yield with_comment(
                f"count = {group.count}", f"{name}-1 to {name}-{group.count}, all alike"
            )
        if group.snr_db is None:
            yield with_comment(f'rate = "{group.rate_mbps:g} Mbps"', "of its frames, both ways")
        else:
            if group.is_old and answers.hop != OLD_PHY:
                yield with_comment(f'phy = "{OLD_PHY}"', "an old device")
            if group.is_old:
                yield with_comment("streams = 1", "spatial streams of an old device")
            yield with_comment(f'snr = "{group.snr_db:g} dB"', _snr_comment(answers))
        if traffic.up:
            yield with_comment(f"upload = {traffic.up}", "connections from it")
        if traffic.down:
            yield with_comment(f"download = {traffic.down}", "connections to it")
        if traffic.calls:
            yield with_comment(f"call = {traffic.calls}", "calls with audio and video, both ways")
        if traffic.is_empty:
            yield "# it sends and receives nothing: upload = 1 or download = 1 changes that"


def _snr_comment(answers: Answers) -> str:
    """Return the comment that explains the signal-to-noise ratio."""
    if answers.compares_models:
        return "of its frames, both ways: chooses the MCS"
    return f"strength of its signal: {NEAR_DB:g} in the same room, {FAR_DB:g} two walls away"


def _tables(answers: Answers) -> Iterator[tuple[str, Group, Traffic]]:
    """Yield the groups of equal stations, each with a unique table name and its traffic."""
    alike = [replace(group, count=1) for group in answers.stations for _ in range(group.count)]
    sorts = Counter(zip(alike, answers.traffic, strict=True))
    slowest = min(alike, key=lambda own: own.speed)
    greediest = max(answers.traffic, key=lambda own: own.up + own.down)
    used = Counter[str]()
    for (own, traffic), count in sorts.items():
        name = _name_for(traffic)
        if answers.aim == "guest" and traffic == greediest:
            name = "guest"
        if own.is_old:
            name = f"old-{name}"
        elif len(set(alike)) > 1 and own == slowest:
            name = f"{'far' if answers.aggregates else 'slow'}-{name}"
        used[name] += 1
        unique = name if used[name] == 1 else f"{name}-{used[name]}x"
        yield unique, replace(own, count=count), traffic


def _name_for(traffic: Traffic) -> str:
    """Return a table name that suits stations with this traffic."""
    if traffic.calls:
        return "phone"
    if traffic.up and traffic.down:
        return "both"
    return "uploader" if traffic.up else "downloader" if traffic.down else "idle"


def _router(answers: Answers) -> Iterator[str]:
    flows = sum(each.up + each.down for each in answers.traffic)
    wire = answers.wire
    yield _queue(answers, "queue")
    yield ""
    yield "[dumbbell]"
    yield with_comment(f"flows = {flows}", "connections, all from the left to the right")
    yield with_comment(
        f'access = "{answers.stations[0].rate_mbps:g} Mbps"', "of each sender's own link"
    )
    yield with_comment(
        "access_spread = 0.01", "links differ by 1 %, to keep senders from synchronising"
    )
    yield with_comment(
        f'bottleneck = "{wire.rate_mbps or 0.0:.12g} Mbps"', "of the link that all share"
    )
    yield with_comment(f'rtt = "{wire.rtt_ms:g} ms"', "round trip without queues")
    yield ""
    yield from _tcp(answers)
