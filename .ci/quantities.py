"""Write the names of the measured quantities as constants of Python and as a type of TypeScript.

The engine's registry (`crates/engine/src/quantities.rs`) is the source. The Python constants are
defined when `lasthop.answers.names` is imported. The stub of this module lists the constants for
type checkers and editors.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

from lasthop import _core

ROOT = Path(__file__).parent.parent
WRITTEN_BY = "Written by .ci/quantities.py from the engine's registry."


def python(names: Sequence[str]) -> str:
    """Return the text of the stub of `lasthop.answers.names`."""
    constants = "\n".join(f'{name.upper()}: Final = "{name}"' for name in names)
    title = '"""Names of quantities as constants."""'
    return f"{title}\n\n# {WRITTEN_BY}\n\nfrom typing import Final\n\n{constants}\n"


def typescript(names: Sequence[str]) -> str:
    """Return the text of the TypeScript module with the type of all names."""
    union = fill(" | ".join(f'"{name}"' for name in names), 98, break_on_hyphens=False)
    lines = "".join(f"  {line}\n" for line in f"| {union};".splitlines())
    return f"/** Names of quantities. {WRITTEN_BY} */\n\nexport type Quantity =\n{lines}"


def files() -> dict[Path, str]:
    """Return the texts of the generated files, by path."""
    names = [quantity["name"] for quantity in json.loads(_core.quantities())]
    return {
        ROOT / "python/lasthop/answers/names.pyi": python(names),
        ROOT / "workbench/src/engine/quantities.ts": typescript(names),
    }


def main() -> int:
    """Write the generated files."""
    for path, text in files().items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
