"""How objects show themselves: a few lines at a prompt, tables and a picture in a notebook."""

from lasthop.display.answers import answer_html, comparison_html, sweep_html, tuning_html
from lasthop.display.scenarios import scenario_html
from lasthop.display.text import (
    comparison_text,
    emulation_text,
    prediction_text,
    result_text,
    scenario_text,
    sweep_text,
    tuning_text,
)
from lasthop.display.what_if import what_if_html, what_if_text

__all__ = [
    "answer_html",
    "comparison_html",
    "comparison_text",
    "emulation_text",
    "prediction_text",
    "result_text",
    "scenario_html",
    "scenario_text",
    "sweep_html",
    "sweep_text",
    "tuning_html",
    "tuning_text",
    "what_if_html",
    "what_if_text",
]
