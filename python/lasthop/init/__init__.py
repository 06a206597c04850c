"""First scenario from a few questions: the questions, and the scenario file from the answers."""

from lasthop.init.aims import AIMS, MODELS
from lasthop.init.answers import Answers
from lasthop.init.questions import QUESTIONS, Question
from lasthop.init.writing import next_command, scenario
from lasthop.scenario.access_points import KINDS

__all__ = [
    "AIMS",
    "KINDS",
    "MODELS",
    "QUESTIONS",
    "Answers",
    "Question",
    "next_command",
    "scenario",
]
