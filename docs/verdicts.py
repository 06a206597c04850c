"""Generate the verdicts on the papers' claims for the pages, from the stored run of `claims`."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import claims
import two_classes_page

from lasthop.answers.digits import estimate, plain
from lasthop.studies import ledger, messages, outcomes

Tree = Mapping[str, Any]

VERDICTS = ("reproduced", "deviates", "open")
COUNTED = {"reproduced": "reproduced", "deviates": "deviating", "open": "open"}
"""Words for the verdicts after a number of claims, as in "3 deviating"."""

SUBJECTS = ("hotspot", "edca", "vbs", "acsma", "red", "ax", "bbr-wifi")

OWN_RULES = ("ax", "bbr-wifi")
"""Subjects whose statements lasthop judges by its own rules. They do not count with the papers."""

BEGIN = "<!-- verdicts of docs/reference/claims.json: `make docs-pages` writes them -->"
END = "<!-- end of the verdicts -->"


def claims_page() -> str:
    """Return the page of all verdicts, with the number of verdicts of each kind per subject."""
    run = claims.load()
    lines = [
        "# All claims and their verdicts",
        "",
        *messages_table(run, "../papers/"),
        "![Stated numbers and simulated values, with lines at 5 and 15 %](../images/claims.png)",
        "",
        "## Messages",
        "",
        "A message holds if the inequalities in its row hold outside the 95 % intervals. The",
        "claims that support a message are stricter. So a message can hold although one of its",
        "claims does not.",
        "",
        *_rules(run["messages"]),
        "",
        "## Claims",
        "",
        "The table lists all checkable statements of the five papers, the papers' questions in a",
        "modern cell (subject `ax`), and the statements of the study `bbr-wifi`. A run of",
        "`lasthop reproduce` without arguments judged them:",
        f"version {run['version']}, {run['date']}{_apart(run)}. `python docs/claims.py`",
        "repeats this run. [Repeating the papers](../guide/reproduce.md) explains verdicts and",
        "marks. The [pages of the papers](../papers/index.md) list the values of each check, and",
        "the causes of differences. A mark allows a margin of 5 % for bounds that a paper states.",
        "A verdict allows no margin.",
        "",
        *_sums(run["claims"]),
        "",
        "| claim | statement | mark | verdict | checks that hold | verdicts by other rules |",
        "|---|---|---|---|---|---|",
        *(_claim_row(claim) for claim in run["claims"]),
        "",
        *emulated(two_classes_page.load()),
    ]
    return "\n".join(lines) + "\n"


def messages_table(run: Tree, papers: str) -> Iterator[str]:
    """Yield a summary of the papers' messages and claims, and the table of the messages.

    Parameters
    ----------
    run : mapping
        The stored run.
    papers : str
        Path from the page to the pages of the papers.
    """
    of_papers = [claim for claim in run["claims"] if _subject(claim) not in OWN_RULES]
    yield messages.summary(run["messages"], of_papers, ledger.CAUSES)
    yield ""
    yield f"| {' | '.join(messages.HEADER)} |"
    yield f"|{'---|' * len(messages.HEADER)}"
    for subject, *cells in messages.rows(run["messages"], of_papers):
        yield f"| [{subject}]({papers}{subject}.md) | {' | '.join(map(_cell, cells))} |"
    yield ""


def _apart(run: Tree) -> str:
    """Return a text with version and date of each subject that was not run together with the other
    subjects.
    """
    ran = run.get("apart", {}).items()
    return "".join(f"; {subject} {each['version']}, {each['date']}" for subject, each in ran)


def emulated(run: Tree) -> Iterator[str]:
    """Yield results of Linux's TCP in real time that concern claims. These results do not decide a
    verdict.
    """
    every: Sequence[Tree] = run["points"]
    simulated = two_classes_page.Points(every)
    own = [point for point in every if point["source"] == "Linux"]
    yield "## Emulated"
    yield ""
    yield "The verdicts above come from simulations. This table adds runs in real time with Linux's"
    yield "TCP. The runs concern vbs-2 (whether class 1 gets more) and vbs-7 (the goodput of each"
    yield "class). The cell has two classes of five connections at p_w = 0.3, with 4 attempts."
    yield "± is the half width of the 95 % interval."
    yield f"{', '.join(sorted({point['on'] for point in own}))}; {run['date']};"
    yield f"{two_classes_page.lateness(own)}. [All sources and rules](two-classes.md)."
    yield ""
    yield (
        "| TCP | runs | goodput of class 1 / class 2 | goodput of class 1 [Mb/s] "
        "| goodput of class 2 [Mb/s] | lateness of packets, 99th percentile [ms] |"
    )
    yield "|---|---|---|---|---|---|"
    for point in own:
        yield _emulated_row(f"Linux, {point['rule']}", point, f"{1e3 * point['late_p99_s']:.2f}")
    for rule in ("NewReno", "Compound"):
        yield _emulated_row(f"simulated, {rule}", simulated.of(two_classes_page.ENGINE, rule), "")


def _emulated_row(name: str, point: Tree, late: str) -> str:
    classes = (two_classes_page.megabits(point, own) for own in (0, 1))
    cells = [name, str(point["runs"]), two_classes_page.ratio(point), *classes, late]
    return f"| {' | '.join(cells)} |"


def paper_page(subject: str, text: str) -> str:
    """Return the page of a paper with updated verdicts."""
    block = "\n".join([BEGIN, "", *_verdicts(subject), "", END])
    place = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    page, count = place.subn(lambda _: block, text)
    if count != 1:
        raise ValueError(f"the page of {subject} has {count} places for its verdicts")
    return page


def paper_pages(folder: Path) -> dict[Path, str]:
    """Return the updated pages of the papers."""
    pages = {subject: folder / f"{subject}.md" for subject in SUBJECTS}
    return {page: paper_page(name, page.read_text("utf-8")) for name, page in pages.items()}


def _subject(claim: Tree) -> str:
    name: str = claim["id"]
    return name.rpartition("-")[0]


def _rules(some: Sequence[Tree]) -> Iterator[str]:
    """Yield the table of the rules by which each message is judged."""
    yield "| paper | message | inequalities, and values that must agree with the model | verdict |"
    yield "|---|---|---|---|"
    for each in some:
        rule = _cell("; ".join(f"`{part}`" for part in each["rule"]))
        verdict = _marked(each["verdict"], each["verdict"])
        yield f"| {each['subject']} | {_cell(each['text'])} | {rule} | {verdict} |"


MARKS = tuple(mark.value for mark in outcomes.Mark)

REMARKS = {"softer": "Weaker than the paper's statement", "reading": "Interpretation"}
"""First words of the remarks on a check, keyed by the key in claims.toml."""

LEADS = {"cause": "Cause", "found": "Finding"}
"""First words of the sentences that explain a verdict, keyed by the key in claims.toml."""


def _sums(judged: Sequence[Tree]) -> Iterator[str]:
    names = (*MARKS, "orders and shapes", *messages.HEADER[4:7], *VERDICTS)
    yield "| subject | claims | " + " | ".join(names) + " |"
    yield "|" + "---|" * (len(names) + 2)
    rows = {name: [claim for claim in judged if _subject(claim) == name] for name in SUBJECTS}
    for name, some in {**rows, "all": list(judged)}.items():
        counts = Counter(claim["verdict"] for claim in some)
        marks = Counter(claim["mark"] for claim in some)
        close = messages.closeness(some)
        each = [*(marks[mark] for mark in MARKS), close.orders, *close.numbers]
        each += [counts[verdict] for verdict in VERDICTS]
        cells = " | ".join(map(str, each))
        place = name if name == "all" else f"[{name}](../papers/{name}.md)"
        yield f"| {place} | {len(some)} | {cells} |"


def _claim_row(claim: Tree) -> str:
    held = sum(check["verdict"] == "reproduced" for check in claim["checks"])
    others = "; ".join(f"{each['title']}: {each['verdict']}" for each in claim["beside"])
    verdict = _marked(claim["verdict"], claim["verdict"])
    return (
        f"| {claim['id']} | {_cell(claim['statement'])} | {claim['mark']} | {verdict} "
        f"| {held} of {len(claim['checks'])} | {_cell(others)} |"
    )


def _verdicts(subject: str) -> Iterator[str]:
    run = claims.load()
    some = [claim for claim in run["claims"] if _subject(claim) == subject]
    counts = Counter(claim["verdict"] for claim in some)
    sums = ", ".join(f"{counts[verdict]} {words}" for verdict, words in COUNTED.items())
    ran = run.get("apart", {}).get(subject, run)
    yield f"Claims judged with version {ran['version']} on {ran['date']}: {sums}. Results that"
    yield "deviate are bold. ± is the half width of the 95 % interval. The guide explains"
    yield "[verdicts and causes](../guide/reproduce.md)."
    yield ""
    yield from _table(some)
    yield ""
    for claim in some:
        items = list(_explanation(claim))
        if items:
            yield f"**{claim['id']}**"
            yield ""
            yield from (f"- {item}" for item in items)
            yield ""


HEADER = ("claim", "check", "paper", "model", "simulated", "verdict")
"""Columns of the table of checks."""


def _table(some: Sequence[Tree]) -> Iterator[str]:
    """Yield the table of the checks of some claims. A column without a value is omitted."""
    rows = []
    for claim in some:
        name = claim["id"]
        for row in _rows(claim["checks"]):
            rows.append((name, *row))
            name = ""
        for each in claim["beside"]:
            rows += (("", *row) for row in _rows(each["checks"], f"*{each['title']}:* "))
    columns = [HEADER, *rows]
    filled = [place for place in range(len(HEADER)) if {row[place] for row in rows} - {"", "-"}]
    for number, row in enumerate(columns):
        yield f"| {' | '.join(row[place] for place in filled)} |"
        if number == 0:
            yield "|" + "---|" * len(filled)


def _explanation(claim: Tree) -> Iterator[str]:
    """Yield the items of the list that explains the verdict on a claim."""
    for each in claim["beside"]:
        verdict = f"Verdict: {each['verdict']}. Reason: {each['because']}."
        yield f"Also judged, but not counted: {each['title']}. {verdict}"
    for key, lead in REMARKS.items():
        for text in dict.fromkeys(check[key] for check in claim["checks"] if check[key]):
            yield f"{lead}, {_named(claim['checks'], key, text)}: {text}."
    for each in claim["differences"]:
        series = _series_of(claim["checks"], each["checks"])
        yield (
            f"Not reproduced, {series}: {_escaped(each['reason'])}. "
            f"Kind of cause: {each['because']}."
        )
    for line in claim["why"].splitlines():
        lead, _, text = line.partition(": ")
        if lead in LEADS:
            yield _escaped(f"{LEADS[lead]}: {text}" + ("" if text.endswith(".") else "."))


def _series_of(checks: Sequence[Tree], names: Sequence[str]) -> str:
    """Return the names of checks, where all checks of a series have the name of the series."""
    of_series: dict[str, list[str]] = {}
    for check in checks:
        of_series.setdefault(check["series"], []).append(check["what"])
    texts = []
    for series, members in of_series.items():
        some = [name for name in members if name in names]
        texts += [series] if some == members else some
    known = {check["what"] for check in checks}
    texts += [name for name in names if name not in known]
    return f"check{'s' * (len(texts) > 1)} " + "; ".join(f"*{_escaped(each)}*" for each in texts)


def _named(checks: Sequence[Tree], key: str, text: str) -> str:
    """Return the name of the first series of checks that has the remark `text`, and the number of
    further series with this remark.
    """
    first, *others = dict.fromkeys(check["series"] for check in checks if check[key] == text)
    more = f" and {len(others)} more" if others else ""
    return f"check *{_escaped(first)}*{more}"


def _rows(checks: Sequence[Tree], lead: str = "") -> Iterator[tuple[str, ...]]:
    """Yield the cells of one table row for each series: successive checks with the same key
    `series`.
    """
    for series, group in groupby(checks, key=lambda check: check["series"]):
        alike = list(group)
        verdicts = list(dict.fromkeys(check["verdict"] for check in alike))
        unit = f" [{alike[0]['unit']}]" if alike[0]["unit"] else ""
        cells = [
            lead + series + unit,
            _listed(_paper(check) for check in alike),
            _listed(_predicted(check) for check in alike),
            _listed(_marked(_simulated(check), check["verdict"]) for check in alike),
        ]
        worst = max(verdicts, key=("reproduced", "open", "deviates").index)
        yield (*map(_cell, cells), _marked(worst, worst))


def _listed(texts: Iterable[str]) -> str:
    """Return the texts separated by commas, or a single text if all are equal."""
    row = list(texts)
    return row[0] if len(set(row)) == 1 else ", ".join(row)


def _paper(check: Tree) -> str:
    paper = check["paper"]
    if isinstance(paper, float):
        return plain(paper)
    return "" if _is_shape(check) else str(paper)


def _is_shape(check: Tree) -> bool:
    rule: str = check["rule"]
    return rule.startswith(("shape", "trend"))


def _predicted(check: Tree) -> str:
    if check["predicted"] is None:
        return "-"
    if _is_shape(check) and check["model_verdict"] is not None:
        return "holds" if check["model_verdict"] == "reproduced" else "fails"
    return plain(check["predicted"])


def _simulated(check: Tree) -> str:
    if check["simulated"] is None:
        return "-"
    return check["detail"] if _is_shape(check) else estimate(check["simulated"], check["ci95"])


def _marked(text: str, verdict: str) -> str:
    return f"**{text}**" if verdict == "deviates" else text


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _escaped(text: str) -> str:
    return re.sub(r"([_*\[\]<>])", r"\\\1", text)
