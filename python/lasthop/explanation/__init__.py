"""Explanations: where packets wait, what limits each flow, and which change helps.

```text
 run as it is --(compiled crate)--> facts, causes with edits and remedies
 edits, remedies --(pairs of runs)--> gains of the objective --> first cause, suggestions
```

The Rust engine contains the list of causes and their edits. This package simulates the edits and
remedies in pairs of runs. It reports the changes that improve the objective by more than the
interval of the difference. The short explanation of a finished run needs only
`lasthop.explanation.facts`. Therefore all other modules are imported on first use.
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
