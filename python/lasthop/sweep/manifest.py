"""What a directory of a sweep is to have: the scenario, its points, the fingerprint of each."""

import base64
import json
from collections.abc import Sequence
from pathlib import Path

from lasthop import _core
from lasthop.saving import text_writer, write_atomically
from lasthop.scenario import Scenario
from lasthop.sweep.grid import Grid

__all__ = ["MANIFEST", "write_manifest"]

MANIFEST = "manifest.json"


def write_manifest(directory: Path, base: Scenario, grid: Grid, keys: Sequence[str]) -> None:
    """Write the manifest of a sweep; resuming is this less what the parts have."""
    directory.mkdir(parents=True, exist_ok=True)
    files = [
        [name, None if content is None else base64.b64encode(content).decode(), why]
        for name, content, why in base.checked.files
    ]
    tree = {
        "kind": "sweep manifest",
        "version": _core.VERSION,
        "engine": _core.ENGINE,
        "scenario": {
            "content": base.content.decode(errors="surrogateescape"),
            "format": base.format,
            "source": base.source,
            "settings": base.settings,
            "files": files,
        },
        "paths": grid.paths,
        "axes": grid.axes,
        "points": list(keys),
    }
    write_atomically(directory / MANIFEST, text_writer(json.dumps(tree) + "\n"))
