"""Candidate changes of a scenario: edits that remove a cause, and remedies, each as a new
scenario.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lasthop.errors import ScenarioError
from lasthop.explanation.facts import Cause, Remedy
from lasthop.scenario.scenario import Scenario
from lasthop.shell import command_text

__all__ = ["Candidate", "causes_of", "remedies_of"]

Settings = tuple[tuple[str, str], ...]

ALTERNATIVES = (("cell.ap_queue", "cell.ap.queue"),)
"""Pairs of keys with the same meaning; a file must not contain both keys of a pair."""


@dataclass(frozen=True)
class Candidate:
    """A change of the scenario: an edit that removes a cause, or a remedy."""

    id: str
    """Identifier of the cause; ``lasthop explain --rules`` lists all causes."""
    title: str
    """Title of the cause, or label of the remedy."""
    subject: str
    """Name of the queue, link, table of stations, or class of flows that the cause concerns."""
    sentence: str
    settings: Settings
    scenario: Scenario
    place: str = ""
    """Description of where a remedy is configured; empty for a cause, or if the title says where.
    """
    is_setting: bool = True
    """Whether a remedy only changes a setting. Other remedies need a different line, position or
    contract."""

    @property
    def name(self) -> str:
        """Unique name of the change: its settings."""
        return "; ".join(f"{key}={value}" for key, value in self.settings)


def edited(base: Scenario, settings: Settings) -> tuple[Settings, Scenario] | None:
    """Return the settings of an edit with keys that the scenario accepts, and the edited scenario.

    Return None if the scenario refuses the edit, or if the edit changes nothing.
    """
    for old, new in (("", ""), *ALTERNATIVES):
        named = tuple((new if key == old else key, value) for key, value in settings)
        try:
            scenario = Scenario(base, named)
        except ScenarioError:
            continue
        if scenario.key != base.key:
            return named, scenario
    return None


def causes_of(base: Scenario, causes: Iterable[Cause]) -> list[Candidate]:
    """Return a candidate for each cause whose edit changes the scenario and is accepted by it.

    If two causes have the same edited scenario, only the first is returned.
    """
    return checked(base, ((cause, None) for cause in causes))


def remedies_of(base: Scenario, causes: Iterable[Cause]) -> list[Candidate]:
    """Return the remedies of all causes as candidates, without duplicates."""
    return checked(base, ((cause, remedy) for cause in causes for remedy in cause.remedies))


def checked(base: Scenario, given: Iterable[tuple[Cause, Remedy | None]]) -> list[Candidate]:
    """Return the accepted edits or remedies as candidates, without duplicates."""
    results: dict[str, Candidate] = {}
    for cause, remedy in given:
        edits = cause.edits if remedy is None else remedy.settings
        accepted = edited(base, tuple((key, value) for key, value in edits))
        if accepted is not None:
            settings, scenario = accepted
            candidate = Candidate(
                cause.id,
                cause.title if remedy is None else remedy.label,
                cause.subject,
                cause.sentence,
                settings,
                scenario,
                "" if remedy is None else remedy.place,
                remedy is None or remedy.is_setting,
            )
            results.setdefault(scenario.key, candidate)
    return list(results.values())


def command(
    scenario: Scenario, settings: Iterable[tuple[str, str]] = (), verb: str = "simulate"
) -> str:
    """Return a shell command that simulates the scenario with these settings."""
    source = scenario.source
    words = ["lasthop", verb, "FILE" if source.startswith("<") else source]
    given = [f"{path}={value}" for path, value in scenario.settings if path != "replications"]
    for setting in [*given, *(f"{key}={value}" for key, value in settings)]:
        words += ["--set", setting]
    return command_text(words)
