"""Does it help on my data? Methods side by side under one protocol, and an answer."""

from immax.compare.answer import Answer, Row, answer
from immax.compare.candidates import CANDIDATES, DEFAULT, Candidate, choose_candidates
from immax.compare.protocol import Comparison, Protocol, compare
from immax.compare.refit import refit

__all__ = [
    "CANDIDATES",
    "DEFAULT",
    "Answer",
    "Candidate",
    "Comparison",
    "Protocol",
    "Row",
    "answer",
    "choose_candidates",
    "compare",
    "refit",
]
