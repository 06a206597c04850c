"""A sealed part: what some finished runs left, in one ZIP archive.

```text
 about.json           kind, format, version of lasthop, fingerprint of the engine
 KEY/summary.json     a run, by the fingerprint of its scenario
 KEY/samples.json
 ...
```

The archive's table of contents comes last and each member has its checksum, so that what was cut
short or changed is known for it.
"""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from lasthop import _core

__all__ = ["DamagedError", "Part", "packed"]

FORMAT = 1
ABOUT = "about.json"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time in archives: bytes do not depend on when they were written."""

Run = Mapping[str, str]
"""What is kept of a run: JSON by the name of what it is, such as ``summary``."""


class DamagedError(Exception):
    """A part that is not as it was written; the message says in what."""


def packed(runs: Mapping[str, Run]) -> bytes:
    """The archive of some runs, by their keys."""
    about = {
        "kind": "part",
        "format": FORMAT,
        "version": _core.VERSION,
        "engine": _core.ENGINE,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(_member(ABOUT), json.dumps(about))
        for key, run in runs.items():
            for what, text in run.items():
                archive.writestr(_member(f"{key}/{what}.json"), text)
    return buffer.getvalue()


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, EPOCH)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


class Part:
    """An archive that is read.

    Parameters
    ----------
    source : Path or bytes
        The file, or what is in it.
    is_new : bool
        Whether it has just been made, so that nothing can have become of it.

    Raises
    ------
    DamagedError
        If it is no whole part.
    """

    def __init__(self, source: Path | bytes, *, is_new: bool = False) -> None:
        try:
            self._archive = zipfile.ZipFile(
                io.BytesIO(source) if isinstance(source, bytes) else source
            )
            if not is_new and (broken := self._archive.testzip()):
                raise DamagedError(f"{broken} was changed")
            about = json.loads(self._archive.read(ABOUT))
            self.engine = str(about["engine"])
            self.version = str(about["version"])
            self.format = int(about["format"])
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise DamagedError(f"no whole archive: {error}") from None
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedError(f"no part of lasthop: {error}") from None

    @property
    def usable(self) -> bool:
        """Whether runs with the engine that is here would come out the same."""
        return self.engine == _core.ENGINE and self.format == FORMAT

    def runs(self) -> dict[str, set[str]]:
        """What is kept of each run, by its key."""
        found: dict[str, set[str]] = {}
        for name in self._archive.namelist():
            if name != ABOUT:
                key, _, what = name.removesuffix(".json").partition("/")
                found.setdefault(key, set()).add(what)
        return found

    def read(self, key: str, what: str) -> bytes:
        """What is kept of a run under this name, as JSON."""
        return self._archive.read(f"{key}/{what}.json")

    def close(self) -> None:
        """Close the file."""
        self._archive.close()


def name_of(keys: frozenset[str], kept: frozenset[str]) -> str:
    """Name of the file of a part with these runs, of which so much is kept."""
    content = "\n".join([_core.ENGINE, *sorted(kept), *sorted(keys)])
    return f"{hashlib.sha256(content.encode()).hexdigest()[:16]}.zip"
