"""All archives of finished runs, on disk or in memory; a run is found by its key."""

import json
import re
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lasthop import _core
from lasthop.answers.saving import write_atomically
from lasthop.batch.part import DamagedError, Part, name_of, packed
from lasthop.errors import UserError

FOLDER = "parts"
NAME = re.compile(r"[0-9a-f]{16}\.zip")

OLD_FOLDER = "points"
"""Folder of versions before 0.2, which contains one file per run."""

OPEN = 4
"""Maximum number of open archives. Few archives are enough, because runs are read in order, and
successive runs are often in the same archive.
"""


class Parts:
    """All archives of finished runs in a directory.

    Parameters
    ----------
    directory : Path or None
        Directory that contains the folder `FOLDER`; with None the archives are stored in memory.
    mend : bool
        Whether damaged archives are renamed, so that their runs can be saved again. If False,
        damaged archives are only reported in `notes`.

    Raises
    ------
    UserError
        If `FOLDER` exists and is not a directory.
    """

    def __init__(self, directory: Path | None, *, mend: bool = True) -> None:
        self.notes: list[str] = []
        """Messages about archives that are not used, one line per archive."""
        self._folder = None if directory is None else directory / FOLDER
        self._memory: list[bytes] = []
        self._found: dict[tuple[str, str], Path | int] = {}
        self._open: OrderedDict[Path | int, Part] = OrderedDict()
        self.count = 0
        """Number of archives that are used."""
        if directory is not None:
            self._look_around(directory, mend)

    def is_in(self, directory: Path) -> bool:
        """Return whether the archives are stored in this directory."""
        return self._folder == directory / FOLDER

    def has(self, key: str, contents: Iterable[str]) -> bool:
        """Return whether the run with this key has stored data for each name in `contents`."""
        return all((key, what) in self._found for what in contents)

    def read(self, key: str, what: str) -> bytes | None:
        """Return stored data of a run as JSON; None if they are absent."""
        place = self._found.get((key, what))
        return None if place is None else self._part(place).read(key, what)

    def tree(self, key: str, what: str) -> dict[str, Any]:
        """Return stored data of a run as a dictionary, which is empty if they are absent.

        Raises
        ------
        UserError
            If the data are not a JSON object.
        """
        try:
            tree = json.loads(self.read(key, what) or b"null") or {}
        except (ValueError, RecursionError):
            tree = None
        if not isinstance(tree, dict):
            place = self._found[key, what]
            where = place if isinstance(place, Path) else "a part"
            raise UserError(f"{where}: {what} of a run is no JSON of lasthop; delete the file")
        return tree

    def keep(self, content: bytes) -> None:
        """Save an archive: write a temporary file, then rename this file.

        Raises
        ------
        OSError
            If the archive cannot be written. Existing archives do not change.
        """
        part = Part(content, checked=True)
        runs = part.runs()
        if self._folder is None:
            self._memory.append(content)
            self._take(len(self._memory) - 1, part)
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        contents = frozenset(what for each in runs.values() for what in each)
        path = self._folder / name_of(frozenset(runs), contents)
        write_atomically(path, lambda file: file.write_bytes(content))
        self._take(path, part)

    def packed(self, keys: Iterable[str]) -> bytes:
        """Return one archive with all stored data of the runs with these keys."""
        stored: dict[str, dict[str, str]] = {key: {} for key in keys}
        for (key, what), place in self._found.items():
            if key in stored:
                stored[key][what] = self._part(place).read(key, what).decode()
        return packed({key: run for key, run in stored.items() if run})

    def of_keys(self, keys: Iterable[str]) -> "Parts":
        """Return the runs with these keys as an archive in memory, which can be pickled."""
        return Parts.of(self.packed(keys))

    @classmethod
    def of(cls, content: bytes) -> "Parts":
        """Return `Parts` with one archive in memory."""
        parts = cls(None)
        parts.keep(content)
        return parts

    def __reduce__(self) -> tuple[Any, ...]:
        return Parts.of, (self.packed({key for key, _ in self._found}),)

    def _take(self, place: Path | int, part: Part) -> None:
        for key, contents in part.runs().items():
            self._found.update({(key, what): place for what in contents})
        self.count += 1

    def _part(self, place: Path | int) -> Part:
        part = self._open.pop(place, None)
        if part is None:
            content = self._memory[place] if isinstance(place, int) else place
            part = Part(content, checked=True)
        self._open[place] = part
        while len(self._open) > OPEN:
            self._open.popitem(last=False)[1].close()
        return part

    def _look_around(self, directory: Path, mend: bool) -> None:
        """Open the existing archives. Rename damaged archives if `mend`, and leave foreign files
        unchanged.
        """
        folder = directory / FOLDER
        if folder.exists() and not folder.is_dir():
            raise UserError(f"{folder}: is not a directory; finished runs are kept there")
        files = sorted(folder.glob("*.zip"))
        others: dict[str, int] = {}
        for path in files:
            if not NAME.fullmatch(path.name):
                continue
            if not path.is_file():
                self.notes.append(f"{path}: is not a file, and not used")
                continue
            try:
                part = Part(path)
            except DamagedError as damage:
                if not mend:
                    self.notes.append(f"{path}: {damage}; not used")
                    continue
                aside = path.with_suffix(".damaged")
                path.replace(aside)
                self.notes.append(f"{path}: {damage}; renamed to {aside.name}, and run again")
                continue
            if part.usable:
                self._take(path, part)
            else:
                others[part.version] = others.get(part.version, 0) + 1
            part.close()
        for version, count in others.items():
            these = "1 part is" if count == 1 else f"{count} parts are"
            self.notes.append(
                f"{self._folder}: {these} of another engine (lasthop {version}) and not used; this "
                f"is {_core.VERSION}"
            )
        old = directory / OLD_FOLDER
        if any(old.glob("*.json")):
            self.notes.append(f"{old}: kept by an earlier version of lasthop, and not used")
