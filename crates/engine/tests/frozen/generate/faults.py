"""Scenarios with faults, made from correct scenarios."""

from collections.abc import Iterator, Sequence

from blocks import LINE, Block
from dice import Dice

#: Number of scenarios with faults; a third of these scenarios have several faults.
MUTANTS = 560


TYPES = ("true", '"words"', "[1, 2]", "{ a = 1 }", "3.5", "-1", "1e30", "0", '""', "1979-05-27")


QUANTITIES = ('"-5 s"', '"5 parsecs"', '"5"', '"1e30 s"', '"0 s"', '"7 bps"', '"5 MB"', "5")


STRAY = (
    "colour = 1",
    'codel = "5 ms"',
    "limit = 0",
    "sack = true",
    "prr = true",
    'congestion = "tahoe"',
    "cwmax = 1",
    "aifsn = 1",
    "upload = 1",
    "queue = { red = { min_th = 5, max_th = 2 } }",
    "vbs = {}",
    'from = "nowhere"',
    'route = ["nowhere"]',
    'server = "nowhere"',
    "conflicts = 3",
    'wce.low = "2 s"',
    "error = 1",
    'snr = "20"',
    'rate = "11"',
    'start = "2 h"',
)


SETTINGS = (
    "durtion=5 s",
    "duration=5",
    "duration=",
    "cell.ap.cwmin=x",
    "cell.ap.cwmim=3",
    "cell.ap=3",
    "cell.phy=802.11n",
    "tcp.congestion=vegas",
    "tcp.sack=maybe",
    "station.nobody.rate=1 Mbps",
    "station.laptop.upload.window=0",
    "queue.red={ min_th = 5 }",
    "queue.codel=5",
    "cell.ap_queue.codel=5 ms",
    "cell.ap_queue.pie.target=1 year",
    "csma.access=aloha",
    'csma.link.l0.conflicts=["l9"]',
    "flow.user-0.route=[]",
    "flow.more.udp=fast",
    "vsb.wce.low=1 s",
    "vsb.rate=guessed",
    "gateway.wan=eth1",
    "gateway.ap.ap0.subnets=10.0.0.0/99",
    "a.b.c=1",
    "=1",
    "seed=-1",
    "seed=1e3",
    "record.frames=many",
    "wire.loss=1",
    "dumbbell.flows=x",
)


def mutants(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield scenarios with faults."""
    for number in range(MUTANTS):
        d = Dice(f"mutant {number}")
        base = d.one([block for block in blocks if len(block.text) < 2500])
        lines, settings = base.text.splitlines(), list[str]()
        whole = list(lines)
        for _ in range(d.one((1, 1, 1, 1, 2, 3))):
            if d.chance(0.12):
                settings.append(d.one(SETTINGS))
            else:
                fault(d, lines)
        edits = [f"of {base.name}"]
        for at, (before, after) in enumerate(zip(whole, lines, strict=True), 1):
            if after != before:
                first, *more = after.split("\n")
                edits += [f"{at} {first}", *(f"+ {line}" for line in more)]
        yield Block(f"wrong-{number:03}", "", settings, base.words, edits)


def misspelt(d: Dice, word: str) -> str:
    """Return the word with one letter dropped, doubled or swapped with the next letter."""
    at = d.whole(0, max(0, len(word) - 2))
    return d.one(
        (
            word[:at] + word[at + 1 :],
            word[: at + 1] + word[at:],
            word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :],
        )
    )


def fault(d: Dice, lines: list[str]) -> None:
    """Make one fault at a random line."""
    at = d.whole(0, len(lines) - 1)
    found = LINE.match(lines[at])
    if not found:
        lines[at] = d.one((misspelt(d, lines[at]), lines[at][:-1], f"{lines[at]}\n{d.one(STRAY)}"))
        return
    indent, key, value = found.groups()
    match d.one(
        ("key", "key", "type", "type", "range", "word", "drop", "twice", "stray", "broken")
    ):
        case "key":
            lines[at] = f"{indent}{misspelt(d, key)} = {value}"
        case "type":
            lines[at] = f"{indent}{key} = {d.one(TYPES)}"
        case "range":
            lines[at] = f"{indent}{key} = {d.one(QUANTITIES)}"
        case "word":
            lines[at] = f"{indent}{key} = {misspelt(d, value[:-1]) + value[-1:]}"
        case "drop":
            lines[at] = ""
        case "twice":
            lines[at] = f"{lines[at]}\n{lines[at]}"
        case "stray":
            lines[at] = f"{lines[at]}\n{d.one(STRAY)}"
        case _:
            lines[at] = f"{indent}{key} = {value[:-1]}"
