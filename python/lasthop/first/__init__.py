"""A first scenario by a few questions: their text, and the scenario that the answers make."""

from lasthop.access_points import KINDS
from lasthop.first.aims import AIMS, MODELS
from lasthop.first.answers import Answers
from lasthop.first.questions import QUESTIONS, Question, settled
from lasthop.first.writing import next_command, scenario

__all__ = [
    "AIMS",
    "KINDS",
    "MODELS",
    "QUESTIONS",
    "Answers",
    "Question",
    "next_command",
    "scenario",
    "settled",
]
