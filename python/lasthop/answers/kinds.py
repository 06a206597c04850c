"""Kinds of results, with the functions that print, show, draw and read the results.

`display`, `plot`, `load` and the list of commands use `KINDS`. A new kind of result needs an item
of `KINDS`, a module with its class, and a module with its command.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["KINDS", "Kind", "kind_named"]


class Kind(NamedTuple):
    """One kind of result. Functions and classes are given as references such as
    ``display.text:result_text``, which `lasthop.references` resolves.
    """

    name: str
    """Value of ``kind`` in the JSON of the results."""
    command: str
    """Name of the command that prints results of this kind."""
    line: str
    """One-line description of the command in the list of commands."""
    answer: str
    """Reference to the class of the results."""
    text: str
    """Reference to the function that returns a short text for the Python prompt."""
    page: str = ""
    """Reference to the function that returns the page for notebooks and reports. By default the
    page contains the short text.
    """
    figure: str = ""
    """Reference to the function that draws the main picture; empty if the result has no picture."""
    readers: Mapping[str, str] = MappingProxyType({})
    """References to the functions that read a saved result, by the ``kind`` in its JSON."""
    file: str = ""
    """Name of the file that `lasthop.load` reads in the directory of a saved result."""


KINDS = (
    Kind(
        "prediction",
        "predict",
        "Predict a scenario by a model.",
        answer="prediction.prediction:Prediction",
        text="display.text:prediction_text",
        page="display.answers:answer_page",
        figure="plot.overview:overview_figure",
        readers={"prediction": "prediction.prediction:read_prediction"},
    ),
    Kind(
        "simulation",
        "simulate",
        "Simulate a scenario packet by packet.",
        answer="simulation.result:Result",
        text="display.text:result_text",
        page="display.answers:answer_page",
        figure="plot.overview:overview_figure",
        readers={"simulation": "simulation.reading:read_result"},
        file="result.json",
    ),
    Kind(
        "comparison",
        "compare",
        "Predict and simulate, and compare the results.",
        answer="comparison.compare:Comparison",
        text="display.text:comparison_text",
        page="display.answers:comparison_page",
        figure="plot.compare:comparison_figure",
        readers={"comparison": "comparison.reading:read_comparison"},
    ),
    Kind(
        "explanation",
        "explain",
        "Explain a result and what helps, or a term.",
        answer="explanation.run:Explanation",
        text="explanation.text:explanation_text",
    ),
    Kind(
        "emulation",
        "emulate",
        "Run a scenario with the real TCP of Linux.",
        answer="emulated.emulation:Emulation",
        text="display.text:emulation_text",
        page="display.answers:answer_page",
        figure="plot.overview:overview_figure",
        readers={"emulation": "emulated.reading:read_emulation"},
    ),
    Kind(
        "sweep",
        "sweep",
        "Simulate a scenario at many settings.",
        answer="sweep.sweep:Sweep",
        text="display.text:sweep_text",
        page="display.answers:sweep_page",
        figure="plot.sweep:sweep_figure",
        readers={
            "sweep": "sweep.reading:read_sweep",
            "sweep manifest": "sweep.reading:read_manifest",
        },
        file="manifest.json",
    ),
    Kind(
        "what-if",
        "what-if",
        "Compare named cases with a scenario as it is.",
        answer="whatif.what_if:WhatIf",
        text="display.what_if:what_if_text",
        page="display.what_if:what_if_page",
        figure="plot.what_if:what_if_figure",
        readers={"what-if": "whatif.reading:read_what_if"},
        file="what-if.json",
    ),
    Kind(
        "tuning",
        "tune",
        "Find the best access parameters for an aim.",
        answer="tuning.tuning:Tuning",
        text="display.text:tuning_text",
        page="display.answers:tuning_page",
        figure="plot.tuning:tuning_figure",
    ),
)
"""Kinds of results, in the order of their commands."""


def kind_named(name: str) -> Kind:
    """Return the kind of result with this name."""
    return next(kind for kind in KINDS if kind.name == name)
