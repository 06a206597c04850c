"""A saved part: the results of some finished runs in one ZIP archive.

```text
 about.json           kind, format, version of lasthop, fingerprint of the engine, and the keys
                      of the runs of each member, in its order
 summary-0.jsonl      kept data of some runs, one line each
 summary-1.jsonl
 samples-0.jsonl
 ...
```

A key is the fingerprint of a run's scenario. The archive's table of contents comes last, and each
member has a checksum. Truncated or changed archives are therefore detected.
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
"""Number of runs in one member of the archive; they are unpacked together."""

EPOCH = (1980, 1, 1, 0, 0, 0)
"""Time stamp of all members, so that the bytes do not depend on the time of writing."""

Run = Mapping[str, str]
"""Parts of a run that are kept: each is one line of JSON, by name, such as ``summary``."""


class DamagedError(Exception):
    """A damaged part; the message says what is wrong."""


def packed(runs: Mapping[str, Run]) -> bytes:
    """Return the archive of some runs, given by their keys."""
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
    """Return the name of the parts in a member, such as ``summary``."""
    return member.partition("-")[0]


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, EPOCH)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


class About(Table):
    """Table of contents of an archive."""

    format: int
    version: str
    engine: str
    members: Mapping[str, Sequence[str]]


class Part:
    """An archive that is open for reading.

    Parameters
    ----------
    source : Path or bytes
        The file, or its contents.
    checked : bool
        Whether the whole archive is known to be undamaged. Each run is checked again when it is
        read.

    Raises
    ------
    DamagedError
        If the part is damaged.
    """

    def __init__(self, source: Path | bytes, *, checked: bool = False) -> None:
        try:
            self._archive = zipfile.ZipFile(
                io.BytesIO(source) if isinstance(source, bytes) else source
            )
            about = read_as(About, json.loads(self._archive.read(ABOUT)))
            self.version = about.version
            self.usable = about.engine == _core.ENGINE and about.format == FORMAT
            """Whether the installed engine would give the same results for these runs."""
            self._members = about.members if self.usable else {}
            self._places = {
                (key, what_of(name)): (name, at)
                for name, keys in self._members.items()
                for at, key in enumerate(keys)
            }
            self._lines: dict[str, tuple[str, list[bytes]]] = {}
            if not checked:
                self._check()
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
        ) as error:  # A file with such a name may contain anything.
            raise DamagedError(f"no part of lasthop: {error}") from None

    def _check(self) -> None:
        """Read the whole archive, which checks it."""
        if (broken := self._archive.testzip()) is not None:
            raise DamagedError(f"{broken} was changed")
        for name, keys in self._members.items():
            if len(self._archive.read(name).split(b"\n")) != len(keys):
                raise DamagedError(f"{name} has not a line for each run")

    def runs(self) -> dict[str, set[str]]:
        """Return the names of the kept parts of each run, by its key."""
        results: dict[str, set[str]] = {}
        for key, what in self._places:
            results.setdefault(key, set()).add(what)
        return results

    def read(self, key: str, what: str) -> bytes:
        """Return a kept part of a run by its name, as JSON."""
        name, at = self._places[key, what]
        known, lines = self._lines.get(what, ("", []))
        # Keep the last member that was read, since runs are read one after another.
        if known != name:
            lines = self._archive.read(name).split(b"\n")
            self._lines[what] = name, lines
        return lines[at]

    def close(self) -> None:
        """Close the file."""
        self._archive.close()


def name_of(keys: frozenset[str], contents: frozenset[str]) -> str:
    """Return the file name for these runs with these kept parts."""
    content = "\n".join([_core.ENGINE, *sorted(contents), *sorted(keys)])
    return f"{hashlib.sha256(content.encode()).hexdigest()[:16]}.zip"
