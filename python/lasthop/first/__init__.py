"""A first scenario by five questions: what they ask, and what the answers make."""

from lasthop.access_points import KINDS
from lasthop.first.answers import Answers
from lasthop.first.questions import QUESTIONS, Question, settled
from lasthop.first.writing import scenario

__all__ = ["KINDS", "QUESTIONS", "Answers", "Question", "scenario", "settled"]
