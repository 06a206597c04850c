"""Presets: the cases of the papers, by name."""

from collections.abc import Mapping
from typing import Any

from lasthop.stability.case import SCENARIOS, Case
from lasthop.stability.errors import ParameterError
from lasthop.stability.models import MODELS

DUMBBELL: Mapping[str, Any] = {
    "queue": "total",
    "flows": 60.0,
    "link_capacity": 1e8 / 12000.0,
    "min_th": 50.0,
    "max_th": 100.0,
    "queue_weight": -1.0,
    "delay": "queueing",
}
"""Settings of 60 flows through a 100 Mb/s link with packets of 1500 bytes and the RED of ns-2
(paper 004, section V).
"""

PRESETS: Mapping[str, tuple[str, Mapping[str, Any], str]] = {
    "red-fig2a": ("red", {"rtt": 0.0848}, "RED paper, figure 2a: at the Hopf point"),
    "red-fig3a": (
        "red",
        {"gamma": 0.032, "rtt": 0.171},
        "RED paper, figure 3a: converges",
    ),
    "red-fig3b": (
        "red",
        {"gamma": 0.028, "rtt": 0.171},
        "RED paper, figure 3b: limit cycle",
    ),
    "red-fig4": (
        "red-instant",
        {"rtt": 0.273},
        "RED paper, figure 4c: at the Hopf point",
    ),
    "red-fig14": (
        "threshold",
        {"q_th": 39.0},
        "RED paper, figure 14: just beyond the Hopf point",
    ),
    "red-fig20": (
        "red-instant",
        {"rtt": 0.7751},
        "RED paper, figure 20: the delay of appendix B",
    ),
    "red-dumbbell": (
        "red",
        {**DUMBBELL, "rtt": 0.2},
        "RED paper, figure 6b as a fluid",
    ),
    "pi-hollot": (
        "pi",
        {
            "tcp": "reno",
            "flows": 60.0,
            "link_capacity": 3750.0,
            "rtt": 0.246 - 200.0 / 3750.0,
            "feedback": "ecn",
        },
        "PI paper, section V: 60 flows, 3750 packets/s, 246 ms",
    ),
    "vbs-default": ("vbs", {}, "VBS paper, appendix, case (iii)"),
}
"""Model, settings and title of each preset, by name."""


def named(name: str, settings: Mapping[str, Any] | None = None) -> Case:
    """Return the case of a preset, or of a model with this name, with the given parameters set.

    Raises
    ------
    ParameterError
        If there is no such preset, model or parameter, or if a value is not allowed.
    """
    if isinstance(name, str) and name in PRESETS:
        model, preset, _ = PRESETS[name]
        return Case.of(model, preset).with_(**(settings or {}))
    if not isinstance(name, str) or name not in MODELS:
        from difflib import get_close_matches

        if not isinstance(name, str) or "." in name or "/" in name:
            raise ParameterError(f'"{name}" is no model; {SCENARIOS}')
        near = get_close_matches(name, [*MODELS, *PRESETS], n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else "lasthop stability models lists them"
        raise ParameterError(f'"{name}" is neither a model nor a case of a paper', hint)
    return Case.of(name, settings)
