"""Finished runs on disk, so that what is interrupted goes on and nothing is simulated twice."""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from lasthop import _core
from lasthop.saving import text_writer, write_atomically

__all__ = ["Store"]


class Store:
    """One JSON object a run, named by a fingerprint of its scenario and of the compiled engine.

    A run is found again if and only if it would come out the same. A file that does not hold what
    was written to it (cut short, emptied, changed, of another run) counts as not there, and is
    written again.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "points"

    def find(self, key: str) -> Any:
        """What was kept of the scenario with this `Scenario.key`; None if there is nothing."""
        try:
            tree = json.loads(self._path(key).read_bytes())
            run, seal = tree["run"], tree["seal"]
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return None
        return run if seal == seal_of(key, run) else None

    def keep(self, key: str, text: str) -> None:
        """Write the JSON object of a scenario."""
        self.directory.mkdir(parents=True, exist_ok=True)
        seal = seal_of(key, json.loads(text))
        whole = f'{{"seal": "{seal}", "run": {text.strip()}}}\n'
        write_atomically(self._path(key), text_writer(whole))

    def _path(self, key: str) -> Path:
        fingerprint = hashlib.sha256(f"{engine()} {key}".encode()).hexdigest()
        return self.directory / f"{fingerprint[:24]}.json"


def seal_of(key: str, run: Any) -> str:
    """Fingerprint of a run and of the scenario that it is of."""
    return hashlib.sha256(f"{key} {json.dumps(run, sort_keys=True)}".encode()).hexdigest()


@cache
def engine() -> str:
    """Fingerprint of the compiled engine."""
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()
