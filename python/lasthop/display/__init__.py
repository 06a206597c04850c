"""How objects show themselves: a few lines at a prompt, tables and a picture in a notebook."""

from lasthop.display.answers import answer_page, comparison_page, sweep_page, tuning_page
from lasthop.display.scenarios import scenario_page
from lasthop.display.text import (
    comparison_text,
    emulation_text,
    prediction_text,
    result_text,
    scenario_text,
    sweep_text,
    tuning_text,
)
from lasthop.display.what_if import what_if_page, what_if_text

__all__ = [
    "answer_page",
    "comparison_page",
    "comparison_text",
    "emulation_text",
    "prediction_text",
    "result_text",
    "scenario_page",
    "scenario_text",
    "sweep_page",
    "sweep_text",
    "tuning_page",
    "tuning_text",
    "what_if_page",
    "what_if_text",
]
