"""Does it help on my data? Methods side by side under one protocol, and an answer."""

from immax.compare.final_model import refit
from immax.compare.protocol import Comparison, Protocol, compare
from immax.compare.verdict import Answer, Row, answer
from immax.evaluation.candidates import CANDIDATES, DEFAULT, Candidate, choose_candidates

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
