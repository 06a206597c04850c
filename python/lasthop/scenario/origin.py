"""Conversion of a scenario's sources (text, settings, named files) to JSON and back."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from lasthop import _core
from lasthop.scenario.scenario import File, Scenario, blaming

__all__ = ["origin_of", "scenario_of"]


def origin_of(scenario: Scenario) -> dict[str, Any]:
    """Return the sources of a scenario as JSON, with the fingerprint of the scenario."""
    return {
        "text": scenario.content.decode(),
        "format": scenario.format,
        "source": scenario.source,
        "settings": [list(setting) for setting in scenario.settings],
        "files": [_file(file) for file in scenario.checked.files],
        "key": scenario.key,
    }


def scenario_of(origin: Mapping[str, Any]) -> Scenario:
    """Return the scenario from its stored sources. Files that the scenario names are those stored
    in `origin`, not those on disk.

    Raises
    ------
    ScenarioError
        If this version refuses a scenario that another version wrote.
    KeyError, TypeError, ValueError
        If `origin` is not the result of `origin_of`.
    """
    files = [_content(file) for file in origin["files"]]
    settings = [(str(path), str(value)) for path, value in origin["settings"]]
    text, kind, source = origin["text"].encode(), origin["format"], origin["source"]
    with blaming({}):
        return Scenario.of(_core.Scenario(text, kind, source, settings, files))


def _file(file: File) -> dict[str, str]:
    name, content, why = file
    if content is None:
        return {"name": name, "missing": why}
    try:
        return {"name": name, "text": content.decode()}
    except UnicodeDecodeError:
        return {"name": name, "base64": b64encode(content).decode()}


def _content(file: Mapping[str, str]) -> File:
    if "missing" in file:
        return file["name"], None, file["missing"]
    if "base64" in file:
        return file["name"], b64decode(file["base64"], validate=True), ""
    return file["name"], file["text"].encode(), ""
