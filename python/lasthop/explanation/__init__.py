"""Explanations: where packets wait, what limits each flow, and which change helps.

```text
 run as it is --(compiled crate)--> facts, causes with edits and remedies
 edits, remedies --(pairs of runs)--> gains of the objective --> first cause, suggestions
```

The causes and their edits are a table of the compiled crate. This package simulates the edits and
remedies in pairs, and reports those that improve the objective beyond their interval. The short
explanation of a finished run needs only `lasthop.explanation.facts`. Therefore all other names are
imported on first use.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lasthop.explanation.run import Explanation, explain

__all__ = ["Explanation", "explain"]


def __getattr__(name: str) -> "Any":
    """Import a public name when it is first used (PEP 562)."""
    if name in __all__:
        from lasthop.explanation import run

        return getattr(run, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
