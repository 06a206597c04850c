"""Saved parts on disk or in memory: finished runs are found by their keys."""

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
"""Folder in which versions before 0.2 kept one file per run."""

OPEN = 4
"""Number of parts that stay open. Points are read in order, and neighbours share a part."""


class Parts:
    """All parts of a directory.

    Parameters
    ----------
    directory : Path or None
        Directory of the folder `FOLDER`; None keeps the parts in memory.
    mend : bool
        Whether damaged files are moved away, so that their runs can be saved again. Otherwise they
        are reported.

    Raises
    ------
    UserError
        If the folder's name is taken by something else.
    """

    def __init__(self, directory: Path | None, *, mend: bool = True) -> None:
        self.notes: list[str] = []
        """Remarks about files that are not used, one line each."""
        self._folder = None if directory is None else directory / FOLDER
        self._memory: list[bytes] = []
        self._found: dict[tuple[str, str], Path | int] = {}
        self._open: OrderedDict[Path | int, Part] = OrderedDict()
        self.count = 0
        """Number of parts that are used."""
        if directory is not None:
            self._look_around(directory, mend)

    def is_in(self, directory: Path) -> bool:
        """Return whether the parts are kept in this directory."""
        return self._folder == directory / FOLDER

    def has(self, key: str, contents: Iterable[str]) -> bool:
        """Return whether all these parts of a run are kept."""
        return all((key, what) in self._found for what in contents)

    def read(self, key: str, what: str) -> bytes | None:
        """Return a kept part of a run by its name, as JSON; None if it is absent."""
        place = self._found.get((key, what))
        return None if place is None else self._part(place).read(key, what)

    def tree(self, key: str, what: str) -> dict[str, Any]:
        """Return a kept part of a run by its name; empty if it is absent.

        Raises
        ------
        UserError
            If the part is not JSON.
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
        """Save a part: write it to a temporary file, then rename this file.

        Raises
        ------
        OSError
            If the part cannot be written; existing parts stay.
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
        """Return one part with all kept data of some runs."""
        stored: dict[str, dict[str, str]] = {key: {} for key in keys}
        for (key, what), place in self._found.items():
            if key in stored:
                stored[key][what] = self._part(place).read(key, what).decode()
        return packed({key: run for key, run in stored.items() if run})

    def of_keys(self, keys: Iterable[str]) -> "Parts":
        """Return some runs as parts in memory, so that they can be pickled."""
        return Parts.of(self.packed(keys))

    @classmethod
    def of(cls, content: bytes) -> "Parts":
        """Return the contents of one part, in memory."""
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
        """Read the existing parts. Move damaged parts away, and do not touch foreign files."""
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
