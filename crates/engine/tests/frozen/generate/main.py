"""Write the frozen scenarios (scenarios.txt) and the frozen wrong files (wrong.txt).

    python crates/engine/tests/frozen/generate/main.py

Every run writes the same files while the grammar of scenarios stays unchanged. lasthop must be
installed: scenarios that lasthop refuses are written to wrong.txt. README.md says why the files in
the repository are not written again.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from blocks import LINE, Block, refused, sections
from cells import bottleneck, hot_spot, sharing
from dice import Dice, Table
from faults import mutants
from fixed import BY_HAND, of_repository
from gateways import gateway
from graphs import conflict_graph
from wired import attached, wired

HERE = Path(__file__).parents[1]


KINDS: dict[str, tuple[Callable[[Dice], Table], int]] = {
    "cell": (hot_spot, 52),
    "sharing": (sharing, 20),
    "bottleneck": (bottleneck, 18),
    "wired": (wired, 38),
    "web": (lambda d: wired(d, 0.8), 8),
    "attached": (attached, 10),
    "csma": (conflict_graph, 36),
    "gateway": (gateway, 22),
}


def random_blocks() -> tuple[list[Block], list[Block]]:
    """Return random scenarios of every kind, and the scenarios that lasthop refused."""
    good: list[Block] = []
    bad: list[Block] = []
    for kind, (make, wanted) in KINDS.items():
        words = "gateway" if kind == "gateway" else ""
        allowed: list[str] = []
        for tried in range(CANDIDATES * wanted):
            text = "\n".join(sections(make(Dice(f"{kind} {tried}"))))
            block = Block(f"refused-{kind}-{tried:02}", text, words=words)
            if not refused(block):
                allowed.append(text)
            elif tried < wanted // 2:
                bad.append(block)
        chosen = various(allowed, wanted)
        good += [Block(f"{kind}-{n:02}", text, words=words) for n, text in enumerate(chosen)]
    return good, bad


#: Number of random scenarios drawn for each scenario that is chosen.
CANDIDATES = 15


def various(texts: list[str], wanted: int) -> list[str]:
    """Return a choice of `wanted` texts. The texts are chosen one after the other. The next text is
    always the text with the most keys and words that are rare in the texts chosen before.
    """
    counts: Counter[str] = Counter()
    left = [(text, said(text)) for text in texts]
    chosen: list[str] = []
    while len(chosen) < wanted:
        best = max(left, key=lambda pair: worth(pair[0], pair[1], counts))
        left.remove(best)
        chosen.append(best[0])
        counts.update(best[1])
    return chosen


def worth(text: str, words: set[str], counts: Mapping[str, int]) -> float:
    """Return how rare the keys and words of a text are, minus a penalty for its length."""
    new = sum(1 / (1 + counts[word]) for word in words if counts[word] < ENOUGH)
    return new - len(text) / LENGTH


#: Number of texts after which a word is no longer rare, and number of bytes whose penalty equals
#: the value of one new word.
ENOUGH, LENGTH = 4, 800.0


def said(text: str) -> set[str]:
    """Return the keys and words of a file, each with the name of its section."""
    section, words = "", set[str]()
    for line in text.splitlines():
        if line.startswith("["):
            section = re.sub(r"(station|flow|link|class|ap|node|channel)\.[^.\]]+", r"\1.N", line)
        elif found := LINE.match(line):
            _, key, value = found.groups()
            words |= {f"{section} {key}"}
            if re.fullmatch(r'"[a-z]\D*"|true|false', value):
                words |= {f"{section} {key} {value}"}
    return words


def main() -> None:
    """Write both files."""
    good, bad = random_blocks()
    hand = [
        Block(k, text.strip(), words="gateway" * k.startswith("g")) for k, text in BY_HAND.items()
    ]
    blocks = [*of_repository(), *hand, *good]
    for block in blocks:
        if refused(block):
            print(f"refused: {block.name}")
    note = "# Written by generate/main.py; see README.md.\n"
    (HERE / "scenarios.txt").write_text(note + "".join(map(str, blocks)))
    wrong = [str(block) for block in bad]
    wrong += [str(block) for block in mutants(blocks)]
    (HERE / "wrong.txt").write_text(note + "".join(wrong))
    print(f"{len(blocks)} scenarios, {len(wrong)} wrong files")


if __name__ == "__main__":
    main()
