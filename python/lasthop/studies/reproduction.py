"""Reproduction of claims: select studies, run them, judge the claims, draw figures and write the
report.
"""

import os
import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from lasthop._core import VERSION
from lasthop.answers.overwrite import refuse_foreign
from lasthop.answers.saving import text_writer, write_atomically
from lasthop.arguments import callback
from lasthop.batch import ProgressCallback, Workers
from lasthop.errors import UserError
from lasthop.progress.steps import counting
from lasthop.scenario.source import as_toml
from lasthop.studies import findings
from lasthop.studies.findings import Finding
from lasthop.studies.ledger import Claim, ClaimResult, Ledger, load
from lasthop.studies.messages import Message
from lasthop.studies.report import Ran, page
from lasthop.studies.rules import Measured
from lasthop.studies.runner import Plan
from lasthop.studies.study import Runs, Study

SUBJECTS_STUDIED = ("hotspot", "edca", "red", "vbs", "acsma", "ax", "bbr-wifi")
"""Subjects whose studies are in the package `lasthop.studies.SUBJECT`, with `_` for `-`."""

QUICK_SHARE = 0.3
"""Fraction of the replications that a quick run simulates. [-]

These replications are the first replications of the full run, with the same seeds. Studies with
long runs define their own quick runs.
"""


MAX_LINES = 12
"""Largest number of lines in the text of a reproduction."""


def studies_of(subject: str) -> tuple[Study, ...]:
    """Return the studies of a subject."""
    package = import_module(f"lasthop.studies.{subject.replace('-', '_')}")
    studies: tuple[Study, ...] = package.STUDIES
    return studies


@dataclass(frozen=True, repr=False)
class Reproduction:
    """Claims of the papers with their verdicts.

    Parameters
    ----------
    results : tuple of ClaimResult
        Verdict on each claim, in the order of the ledger.
    runs : dict
        Runs of every study, by key of the study.
    """

    ledger: Ledger
    results: tuple[ClaimResult, ...]
    studies: tuple[Study, ...]
    runs: dict[str, Runs]
    quick: bool
    messages: tuple[dict[str, Any], ...] = ()
    """Messages of papers, and whether they hold. A paper is included only if all its claims were
    judged.
    """

    def __repr__(self) -> str:
        counts = Counter(result.verdict.value for result in self.results)
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        lines = [f"Reproduction({len(self.results)} claims: {verdicts or 'none'})"]
        lines += [f"{each.claim.id}: {each.verdict.value}: {each.why}" for each in self.results]
        left = len(lines) - MAX_LINES
        return "\n".join(
            lines if left <= 1 else [*lines[: MAX_LINES - 1], f"... and {left + 1} more"]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the tree that ``reproduce --json`` prints."""
        claims = [result.to_json() for result in self.results]
        return {"messages": list(self.messages), "claims": claims}

    def save(self, directory: Path) -> Path:
        """Write ``report.html``, scenarios and figures into `directory`; return the page's path."""
        refuse_foreign(directory, files_of(self.studies))
        directory.mkdir(parents=True, exist_ok=True)
        studies = [
            self._written(study, directory)
            for study in counting("drawing", self.studies, len(self.studies))
        ]
        report = directory / REPORT
        text = page(
            self.results,
            studies,
            self.ledger.subjects,
            self.ledger.texts,
            self._provenance(),
            self.messages,
        )
        write_atomically(report, text_writer(text))
        return report

    def _written(self, study: Study, directory: Path) -> Ran:
        """Write the scenarios of a study, and its figure if it has one."""
        files = scenarios_of(study)
        for point, file in files.items():
            path = directory / file
            path.parent.mkdir(parents=True, exist_ok=True)
            head = f"# {study.key}, {point}: written by lasthop reproduce\n"
            write_atomically(path, text_writer(head + as_toml(study.points[point])))
        picture = None
        if study.draw is not None:
            picture = picture_of(study)
            write_atomically(directory / picture, study.draw(self.runs[study.key]).savefig)
        return Ran(study.key, study.title, files, picture, self._remarks(study), study.basis)

    def _remarks(self, study: Study) -> list[str]:
        """Return the findings of a study on the claims, and the warnings of the model."""
        runs = self.runs[study.key]
        asked = {result.claim.id for result in self.results}
        results = [
            f"{claim}: {each}" for claim, each in findings.of(study, runs).items() if claim in asked
        ]
        warnings = dict.fromkeys(remark for run in runs.values() for remark in run.remarks)
        return results + [f"model: {warning}" for warning in warnings]

    def _provenance(self) -> str:
        mode = "full run"
        if self.quick:
            mode = (
                f"quick run, {QUICK_SHARE:.0%} of the replications, or what a figure's title says"
            )
        return f"lasthop {VERSION}, {mode}."


def select(ledger: Ledger, names: Sequence[str]) -> tuple[Claim, ...]:
    """Return the claims with these names; without names, all claims.

    Raises
    ------
    UserError
        If a name is neither a subject nor a claim.
    """
    try:
        return ledger.select(names)
    except KeyError as error:
        name = str(error.args[0])
        known = [*ledger.subjects, *(claim.id for claim in ledger.claims)]
        near = get_close_matches(name.lower(), known, n=1, cutoff=0.75)
        later = [each for each in ledger.subjects if each not in SUBJECTS_STUDIED]
        hint = f"subjects with studies: {', '.join(SUBJECTS_STUDIED)}" + (
            f"; claims only, so far: {', '.join(later)}" if later else ""
        )
        hint = f"did you mean {near[0]}?" if near else hint
        raise UserError(f'"{name}" is neither a subject nor a claim', hint) from None


REPORT = "report.html"


def picture_of(study: Study) -> str:
    """Return the file name of a study's picture."""
    return f"{study.key}.png"


def scenarios_of(study: Study) -> dict[str, str]:
    """Return the path of each point's scenario file, relative to the report."""
    return {
        point: f"scenarios/{study.key}/{re.sub('[^A-Za-z0-9_.=+-]', '-', point)}.toml"
        for point in study.points
    }


def files_of(studies: Sequence[Study]) -> list[str]:
    """Return the file names of the report, the pictures, and the scenarios."""
    pictures = [picture_of(study) for study in studies if study.draw is not None]
    return [REPORT, *pictures, *(file for each in studies for file in scenarios_of(each).values())]


@dataclass(frozen=True)
class Task:
    """Claims to be judged, and the studies that measure their values."""

    ledger: Ledger
    claims: tuple[Claim, ...]
    studies: tuple[Study, ...]
    plan: Plan
    quick: bool

    @property
    def files(self) -> list[str]:
        """Names of the files that `Reproduction.save` writes."""
        return files_of(self.studies)

    def run(
        self,
        directory: Path,
        progress: ProgressCallback | None = None,
        jobs: int | None = None,
        executor: Executor | Workers | None = None,
    ) -> Reproduction:
        """Simulate the points whose results are not in `directory`, and judge the claims.

        The points run on `jobs` threads, or in `executor`.

        Raises
        ------
        Stopped
            If `progress` returns False; finished points are kept.
        KeyboardInterrupt
            At Ctrl-C. The finished runs are kept.
        """
        runs = self.plan.run(directory, progress, jobs, executor)
        values: dict[str, dict[str, Measured]] = {}
        by_claim: dict[str, list[Finding]] = {}
        for study in self.studies:
            values.setdefault(study.subject, {}).update(study.values(runs[study.key]))
            for name, finding in findings.of(study, runs[study.key]).items():
                by_claim.setdefault(name, []).append(finding)
        results = tuple(
            claim.result(
                values.get(claim.subject, {}),
                self.ledger.rules,
                quick=self.quick,
                findings=by_claim.get(claim.id, ()),
            )
            for claim in self.claims
        )
        messages = tuple(
            each.to_json(values.get(each.subject, {}), self.ledger.rules, quick=self.quick)
            for each in messages_of(self.ledger, self.claims)
        )
        return Reproduction(self.ledger, results, self.studies, runs, self.quick, messages)


def messages_of(ledger: Ledger, claims: Sequence[Claim]) -> list[Message]:
    """Return the messages whose claims are all in `claims`."""
    names = {claim.id for claim in claims}
    return [each for each in ledger.messages if names.issuperset(each.claims)]


def task(names: Sequence[str], *, quick: bool) -> Task:
    """Return the claims with these names, and the studies that measure their values.

    Raises
    ------
    UserError
        If a name is neither a subject nor a claim.
    """
    ledger = load()
    claims = select(ledger, names)
    every: list[Claim | Message] = [*claims, *messages_of(ledger, claims)]
    needed = {(each.subject, study) for each in every for study in each.studies()}
    studies = tuple(
        study
        for subject in SUBJECTS_STUDIED
        for study in studies_of(subject)
        if (subject, study.name) in needed
    )
    if quick:
        studies = tuple(study.shortened(QUICK_SHARE) for study in studies)
    return Task(ledger, claims, studies, Plan(studies), quick)


def reproduce(
    names: str | Sequence[str] = (),
    *,
    quick: bool = False,
    directory: str | os.PathLike[str] = "out/reproduce",
    progress: ProgressCallback | None = None,
    jobs: int | None = None,
    executor: Executor | Workers | None = None,
) -> Reproduction:
    """Run the studies that check claims of the papers, and judge the claims.

    Parameters
    ----------
    names : str or sequence of str
        Subjects and claims, such as ``"hotspot"`` or ``"hotspot-5"``. Without names all claims are
        checked.
    quick : bool
        Whether to run fewer simulations. Claims that these simulations cannot decide stay open.
    directory : path
        Directory in which finished runs are kept and reused. `Reproduction.save` writes the report
        and the figures.
    progress : callable, optional
        Called with the `BatchProgress` over all runs that are still to be simulated.
    jobs : int, optional
        Number of threads; by default one per processor.
    executor : concurrent.futures.Executor, optional
        Executor that simulates instead of threads of this process; see `lasthop.sweep`.

    Returns
    -------
    Reproduction
        Result with a `ClaimResult` for each claim in ``results``.

    Raises
    ------
    UserError
        If a name is neither a subject nor a claim.
    Stopped
        If `progress` returns False. The finished runs are kept.
    KeyboardInterrupt
        At Ctrl-C. The finished runs are kept.

    Examples
    --------
    The claim of this example needs only models; most other claims need simulations of minutes:

    >>> import tempfile
    >>> import lasthop as lh
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = lh.reproduce(["acsma-16"], directory=folder)
    >>> [(each.claim.id, each.verdict.value) for each in found.results]
    [('acsma-16', 'reproduced')]
    """
    callback("progress", progress)
    asked = [names] if isinstance(names, str) else names
    return task(asked, quick=quick).run(Path(directory), progress, jobs, executor)
