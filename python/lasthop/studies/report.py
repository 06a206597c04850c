"""The report on claims as an HTML page.

For every claim, the page has the verdict, the checks with their values, the scenarios, and the
rule. The figures follow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote

from lasthop.answers.digits import estimate, plain
from lasthop.studies.ledger import CAUSES, Claim, ClaimResult
from lasthop.studies.messages import HEADER, rows, summary
from lasthop.studies.outcomes import CheckResult, RelatedResult
from lasthop.studies.rules import Verdict
from lasthop.studies.study import BY_MODEL

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.2rem; margin-top: 2.2rem } h3 { font-size: 1rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid #ddd;
  vertical-align: top }
th { font-weight: 600 } td.value { white-space: nowrap }
.reproduced { color: #00704f } .deviates { color: #b04500 } .open { color: #666 }
.why { white-space: pre-line; color: #444 } figure { margin: 1rem 0 } img { max-width: 30rem }
figure, img { width: 100% } small { color: #666 } small.softer { color: #b04500 }
details { margin: .3rem 0 } summary { cursor: pointer; color: #444 }
pre { white-space: pre-wrap; font-size: 12px; background: #f6f6f6; padding: .6rem }
"""


@dataclass(frozen=True)
class Ran:
    """A study that was run, with the files that it has written.

    Parameters
    ----------
    key : str
        Key of the study, such as ``hotspot-fig05``.
    title : str
        Subject of the figure.
    scenarios : mapping of str to str
        File of each point's scenario.
    picture : str, optional
        File of the figure; None if the study has no figure.
    remarks : sequence of str
        Findings about the claims of the page, and warnings of the model.
    basis : str
        Text that names the source of the values, such as "by the model only". It is shown only if
        the study has no scenarios.
    """

    key: str
    title: str
    scenarios: Mapping[str, str]
    picture: str | None = None
    remarks: Sequence[str] = ()
    basis: str = BY_MODEL


def page(
    results: Sequence[ClaimResult],
    studies: Sequence[Ran],
    subjects: Mapping[str, str],
    rules: Mapping[str, str],
    provenance: str,
    messages: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return the report as HTML.

    Parameters
    ----------
    results : sequence of ClaimResult
        The judged claims, in the order of the ledger.
    studies : sequence of Ran
        Studies that were run for the claims; names of files are relative to the page.
    subjects : mapping
        Title of each subject.
    rules : mapping
        Text of the rule that judges each claim.
    provenance : str
        Version, runs and seeds on which the verdicts are based.
    messages : sequence of mapping
        Messages of the papers, and whether they hold.
    """
    claims = [result.to_json() for result in results]
    body = [
        "<h1>Claims ledger</h1>",
        f"<p>{escape(summary(messages, claims, CAUSES))}</p>",
        _messages(messages, claims),
        f"<p>{escape(tally(results))}. {escape(provenance)}</p>",
        _overview(results),
    ]
    for subject in dict.fromkeys(result.claim.subject for result in results):
        body.append(f"<h2>{escape(subject)}: {escape(subjects[subject])}</h2>")
        for result in results:
            if result.claim.subject == subject:
                body.append(_claim(result))
                body.append(_rests_on(result.claim, studies, rules.get(result.claim.id, "")))
    if any(study.picture for study in studies):
        body.append("<h2>Figures</h2>")
        body.extend(_figure(study) for study in studies if study.picture)
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="generator" content="lasthop">\n'
        f"<title>Claims ledger</title>\n<style>{STYLE}</style>\n" + "\n".join(body) + "\n</html>\n"
    )


def tally(results: Sequence[ClaimResult]) -> str:
    """Return the numbers of verdicts as text: ``7 reproduced, 2 deviates, 6 open``."""
    counts = {
        verdict: sum(result.verdict is verdict for result in results)
        for verdict in (Verdict.REPRODUCED, Verdict.DEVIATES, Verdict.OPEN)
    }
    return ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items())


def simulated(check: CheckResult) -> str:
    """Return the simulated value of a check as text. If the check is an inequality, return both of
    its sides.
    """
    if check.inequality and check.simulated is not None:
        return check.detail
    return estimate(check.simulated, check.ci95)


def predicted(check: CheckResult) -> str:
    """Return the predicted value of a check as text. If the check is an inequality, return whether
    the model satisfies it.
    """
    if check.inequality and check.model_verdict is not None:
        return "holds" if check.model_verdict is Verdict.REPRODUCED else "fails"
    return plain(check.predicted)


def paper_value(check: CheckResult) -> str:
    """Return the paper's value of a check as text. For a shape, the text is empty because `what`
    has the statement.
    """
    if check.paper is None or isinstance(check.paper, float):
        return plain(check.paper)
    return "" if check.inequality else check.paper


def stands_in(figure: str) -> str:
    """Return the location of a claim in the paper as text."""
    if figure.startswith("paper"):
        return f"asked after {figure}"
    return f"figure {figure} of the paper" if figure[:1].isdigit() else f"{figure} of the paper"


def _messages(messages: Sequence[Mapping[str, Any]], claims: Sequence[Mapping[str, Any]]) -> str:
    """Return the HTML table of messages, or an empty text if there are no messages."""
    if not messages:
        return ""
    head = "".join(f"<th>{escape(title)}</th>" for title in HEADER)
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows(messages, claims))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><tr>{head}</tr>{body}</table>"


def _overview(results: Sequence[ClaimResult]) -> str:
    lines = "".join(
        f'<tr><td><a href="#{result.claim.id}">{result.claim.id}</a></td>'
        f"<td>{escape(result.claim.text)}</td><td>{result.mark.value}</td>"
        f"<td>{_verdict(result.verdict)}</td></tr>"
        for result in results
    )
    titles = "<tr><th>claim</th><th>statement</th><th>mark</th><th>verdict</th></tr>"
    return f"<table>{titles}{lines}</table>"


def _verdict(verdict: Verdict) -> str:
    return f'<span class="{verdict.value}">{verdict.value}</span>'


def _figure(study: Ran) -> str:
    remarks = "".join(f"<p>{escape(remark)}</p>" for remark in study.remarks)
    title = escape(study.title)
    return (
        f'<figure id="{study.key}"><img src="{escape(study.picture or "")}" alt="{title}">'
        f"<figcaption><strong>{title}</strong> <small>{study.key}</small>{remarks}</figcaption>"
        "</figure>"
    )


def _rests_on(claim: Claim, studies: Sequence[Ran], rule: str) -> str:
    """Return what a claim is based on: the figures and scenarios of its studies, and its rule."""
    of_claim = {f"{claim.subject}-{name}" for name in claim.studies()}
    parts = [_scenarios(study) for study in studies if study.key in of_claim]
    if rule:
        parts.append(f"<details><summary>rule</summary><pre>{escape(rule)}</pre></details>")
    return "".join(parts)


def _scenarios(study: Ran) -> str:
    """Return a collapsed list of links to the scenarios of a study, and the link to its figure."""
    figure = f' (<a href="#{study.key}">figure</a>)' if study.picture else ""
    count = len(study.scenarios)
    what = f"{count} scenario{'s' * (count != 1)}" if count else study.basis
    links = ", ".join(
        f'<a href="{quote(file)}">{escape(point)}</a>' for point, file in study.scenarios.items()
    )
    return (
        f"<details><summary>study {study.key}: {what}{figure}</summary>"
        f"<p>{escape(study.title)}</p><p>{links}</p></details>"
    )


def _claim(result: ClaimResult) -> str:
    claim = result.claim
    lines = [
        *result.why.splitlines(),
        *(f"not reproduced; cause: {each}" for each in result.causes),
    ]
    text = "\n".join(lines)
    why = f'<p class="why">{escape(text)}</p>' if lines else ""
    return (
        f'<h3 id="{claim.id}">{claim.id} {_verdict(result.verdict)}</h3>'
        f"<p>{escape(claim.text)} ({escape(stands_in(claim.figure))})</p>{why}"
        + _checks(result.checks)
        + "".join(_related(each) for each in result.related)
    )


def _related(result: RelatedResult) -> str:
    return (
        f"<p>Also judged, but not counted: {escape(result.title)}: {_verdict(result.verdict)}. "
        f"{escape(result.because[:1].upper() + result.because[1:])}</p>{_checks(result.checks)}"
    )


def _checks(checks: Sequence[CheckResult]) -> str:
    rows = "".join(_check(check) for check in checks)
    return (
        "<table><tr><th>check</th><th>paper</th><th>predicted</th><th>simulated, 95 %</th>"
        f"<th>verdict</th></tr>{rows}</table>"
    )


def _check(check: CheckResult) -> str:
    unit = f" [{check.unit}]" if check.unit else ""
    words = f"<br><small>“{escape(check.words)}”</small>" if check.words else ""
    if check.reading:
        words += f"<br><small>read as: {escape(check.reading)}</small>"
    if check.softer:
        words += f'<br><small class="softer">softer: {escape(check.softer)}</small>'
    return (
        f'<tr title="{escape(check.rule)}"><td>{escape(check.what + unit)}{words}</td>'
        f"<td>{escape(paper_value(check))}</td>"
        f'<td class="value">{predicted(check)}</td><td class="value">{simulated(check)}</td>'
        f"<td>{_verdict(check.verdict)}</td></tr>"
    )
