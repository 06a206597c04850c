"""Archive of finished runs: their results in one ZIP file.

```text
 about.json           kind, format, version of lasthop, fingerprint of the engine, and the keys
                      of the runs of each member, in order
 summary-0.jsonl      stored data of some runs, one line per run
 summary-1.jsonl
 samples-0.jsonl
 ...
```

The key of a run is the fingerprint of its scenario. The directory of a ZIP file is at its end, and
each member has a checksum. Truncated or changed archives are therefore detected.
"""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from lasthop import _core
from lasthop.scenario.from_json import Table, read_as

FORMAT = 2
ABOUT = "about.json"
IN_MEMBER = 16
"""Number of runs in one member of the archive. The runs of a member are decompressed together."""

EPOCH = (1980, 1, 1, 0, 0, 0)
"""Time stamp of all members, so that equal results give equal bytes."""

Run = Mapping[str, str]
"""Stored data of a run: lines of JSON by name, such as ``summary``."""


class DamagedError(Exception):
    """Error of a damaged archive; the message describes the damage."""


def packed(runs: Mapping[str, Run]) -> bytes:
    """Return an archive with the stored data of some runs, by the keys of the runs."""
    members: dict[str, tuple[str, ...]] = {}
    for what in dict.fromkeys(what for run in runs.values() for what in run):
        keys = [key for key, run in runs.items() if what in run]
        for first in range(0, len(keys), IN_MEMBER):
            name = f"{what}-{first // IN_MEMBER}.jsonl"
            members[name] = tuple(keys[first : first + IN_MEMBER])
    about = {
        "kind": "part",
        "format": FORMAT,
        "version": _core.VERSION,
        "engine": _core.ENGINE,
        "members": members,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(_member(ABOUT), json.dumps(about))
        for name, keys_of in members.items():
            what = what_of(name)
            archive.writestr(_member(name), "\n".join(runs[key][what] for key in keys_of))
    return buffer.getvalue()


def what_of(member: str) -> str:
    """Return the name of the stored data in a member, such as ``summary``."""
    return member.partition("-")[0]


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, EPOCH)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


class About(Table):
    """Contents of ``about.json`` in an archive."""

    format: int
    version: str
    engine: str
    members: Mapping[str, Sequence[str]]


class Part:
    """An archive of finished runs that is open for reading.

    Parameters
    ----------
    source : Path or bytes
        Path of the archive, or its bytes.
    checked : bool
        Whether the archive was already checked for damage.

    Raises
    ------
    DamagedError
        If the archive is damaged.
    """

    def __init__(self, source: Path | bytes, *, checked: bool = False) -> None:
        try:
            self._archive = zipfile.ZipFile(
                io.BytesIO(source) if isinstance(source, bytes) else source
            )
            try:
                self._read(checked)
            except BaseException:
                self.close()  # Windows does not rename open files.
                raise
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise DamagedError(f"no whole archive: {error}") from None
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            RecursionError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:  # The file may contain anything, since only its name was checked.
            raise DamagedError(f"no part of lasthop: {error}") from None

    def _read(self, checked: bool) -> None:
        """Read the list of runs; check the archive for damage unless it is `checked`."""
        about = read_as(About, json.loads(self._archive.read(ABOUT)))
        self.version = about.version
        self.usable = about.engine == _core.ENGINE and about.format == FORMAT
        """Whether the installed engine computes the same results for these runs."""
        self._members = about.members if self.usable else {}
        self._places = {
            (key, what_of(name)): (name, at)
            for name, keys in self._members.items()
            for at, key in enumerate(keys)
        }
        self._lines: dict[str, tuple[str, list[bytes]]] = {}
        if not checked:
            self._check()

    def _check(self) -> None:
        """Read the whole archive, and raise an error if it is damaged."""
        if (broken := self._archive.testzip()) is not None:
            raise DamagedError(f"{broken} was changed")
        for name, keys in self._members.items():
            if len(self._archive.read(name).split(b"\n")) != len(keys):
                raise DamagedError(f"{name} has not a line for each run")

    def runs(self) -> dict[str, set[str]]:
        """Return the names of the stored data of each run, by the key of the run."""
        results: dict[str, set[str]] = {}
        for key, what in self._places:
            results.setdefault(key, set()).add(what)
        return results

    def read(self, key: str, what: str) -> bytes:
        """Return stored data of a run as JSON; `what` is a name such as ``summary``."""
        name, at = self._places[key, what]
        known, lines = self._lines.get(what, ("", []))
        # The last member stays decompressed, since runs are read in order.
        if known != name:
            lines = self._archive.read(name).split(b"\n")
            self._lines[what] = name, lines
        return lines[at]

    def close(self) -> None:
        """Close the file of the archive."""
        self._archive.close()


def name_of(keys: frozenset[str], contents: frozenset[str]) -> str:
    """Return the file name of the archive with these runs and these stored data."""
    content = "\n".join([_core.ENGINE, *sorted(contents), *sorted(keys)])
    return f"{hashlib.sha256(content.encode()).hexdigest()[:16]}.zip"
