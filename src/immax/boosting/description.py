"""The description in a booster by which its scores become probabilities and labels.

It is one line of JSON: an attribute of XGBoost's boosters, a line among the parameters of
LightGBM's, and metadata of CatBoost's. Model files of version 0.1 have it in a file beside them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from immax.arrays import Array
from immax.boosting.loss import BoostingLoss
from immax.decisions.rules import Rule
from immax.links import by_score

__all__ = ["ATTRIBUTE", "Description", "read_file_beside"]

ATTRIBUTE = "immax"
"""The name under which boosters hold their description."""
FORMAT = 2


@dataclass(frozen=True)
class Description:
    """A loss, and how labels follow from its scores.

    Parameters
    ----------
    loss : BoostingLoss
    rule : Rule, optional
        Decides by the probabilities; by default the highest score decides.
    """

    loss: BoostingLoss
    rule: Rule | None = None

    def decide(self, scores: Array, proba: Array | None = None) -> Array:
        """Return class indices of scores, or c where the rule abstains.

        Parameters
        ----------
        scores : ndarray of shape (n, c), or (n,) for two classes
        proba : ndarray of shape (n, c), optional
            The probabilities of the scores, if they are known.

        Returns
        -------
        ndarray of int, shape (n,)
        """
        if self.rule is None:
            return by_score(scores)
        return self.rule.decide(self.loss.proba(scores) if proba is None else proba)

    def predict(self, scores: Array) -> Array:
        """Return the labels of scores.

        Parameters
        ----------
        scores : ndarray of shape (n, c), or (n,) for two classes

        Returns
        -------
        ndarray of shape (n,)
        """
        if self.rule is None:
            return self.loss.classes[by_score(scores)]
        return self.rule.predict(self.loss.proba(scores))

    def to_json(self) -> str:
        """Return the description as one line of JSON.

        Returns
        -------
        str
        """
        rule = None if self.rule is None else self.rule.to_dict()
        return json.dumps({"format": FORMAT, **self.loss.to_dict(), "rule": rule})

    @classmethod
    def from_json(cls, text: str, source: str) -> Self:
        """Return the description that ``to_json`` wrote.

        Parameters
        ----------
        text : str
        source : str
            What errors call it.

        Returns
        -------
        Description
        """
        try:
            content = json.loads(text)
            loss = BoostingLoss.from_dict(content)
            rule = content.get("rule")
            if rule is None:
                return cls(loss)
            return cls(loss, replace(Rule.from_dict(rule), classes=loss.classes))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{source} is damaged: {error}") from error


def read_file_beside(model: str | Path) -> Description:
    """Read the description that version 0.1 wrote beside a model file.

    Parameters
    ----------
    model : str or Path
        The model file.

    Returns
    -------
    Description

    Raises
    ------
    ValueError
        If there is none, or it cannot be read.
    """
    path = Path(f"{model}.immax.json")
    if not path.exists():
        raise ValueError(
            f"{model} does not say which margins its scores have: it was not written by "
            "save_model of an estimator of immax.boosting"
        )
    return Description.from_json(path.read_text(encoding="utf-8"), str(path))
