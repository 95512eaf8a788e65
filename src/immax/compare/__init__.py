"""Methods compared on a data set under one protocol, with a recommendation."""

from immax.compare.final_model import refit, refit_all
from immax.compare.protocol import Protocol
from immax.compare.results import Comparison
from immax.compare.running import compare
from immax.compare.streaming import compare_streamed
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
    "compare_streamed",
    "refit",
    "refit_all",
]
