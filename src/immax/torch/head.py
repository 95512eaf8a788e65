"""IMMAXHead: the last layer of a network, fitted exactly to features, with its probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from immax.decisions.rules import Rule
from immax.losses.catalog import METHODS
from immax.losses.spec import LossSpec
from immax.torch.class_loss import SpecLoss
from immax.torch.decisions import RuleLike
from immax.torch.head_data import HeldOut, check_classes_present, checked_features
from immax.torch.head_files import HeadContents, read_head, write_head
from immax.torch.head_fits import HeadRecord, Margins, fit_catalogue, fit_immax
from immax.torch.selection_checks import warn_of_fitted_features
from immax.validation import check_choice

__all__ = ["IMMAXHead"]


class IMMAXHead(nn.Linear):
    """Linear layer whose scores determine exact probabilities and decisions.

    ``IMMAXHead.fit`` and ``refit_head`` make one. It is an ``nn.Linear`` with the same
    parameters, so it can replace the last layer of a network, be trained further, and be exported
    in the same way. ``proba``, ``log_proba`` and ``predict`` take the scores that it returns.

    Parameters
    ----------
    weight : Tensor of shape (C, d), or (1, d) for two classes
    bias : Tensor of shape (C,) or (1,)
    spec : LossSpec
        The loss that the layer was fitted with.
    counts : sequence of float, optional
        Class counts of the training features, for aims that need the class shares.
    rule : "score", "bayes" or Rule, default="score"
        How ``predict`` decides by default.
    record : HeadRecord, optional
        How the layer was fitted.

    Attributes
    ----------
    in_features, out_features : int
        As in ``nn.Linear``.
    criterion : SpecLoss
        The loss, for further training: ``head.criterion(head(features), y)``.
    record : HeadRecord
        Method, λ, margins, where they were selected, and the gap of the fit.

    Examples
    --------
    >>> y = torch.arange(300) % 10 // 7  # classes 0 and 1, seven to three
    >>> features = torch.randn(300, 5, generator=torch.Generator().manual_seed(0)) + y[:, None]
    >>> head = IMMAXHead.fit(features, y)
    >>> head.in_features, head.out_features
    (5, 2)
    >>> head.proba(head(features)).shape
    torch.Size([300, 2])
    """

    def __init__(
        self,
        weight: Tensor,
        bias: Tensor,
        spec: LossSpec,
        counts: Sequence[float] | None = None,
        rule: str | Rule = "score",
        record: HeadRecord | None = None,
    ) -> None:
        rows, d = weight.shape
        if rows != spec.n_classes and not (rows == 1 and spec.n_classes == 2):
            raise ValueError(
                f"weight must have a row for each of the {spec.n_classes} classes of spec; got "
                f"shape {tuple(weight.shape)}"
            )
        nn.Module.__init__(self)  # that of nn.Linear would draw random weights
        self.in_features, self.out_features = d, rows
        self.weight = nn.Parameter(weight.detach().clone())
        self.bias = nn.Parameter(bias.detach().clone())
        self.criterion = SpecLoss(spec, device=weight.device, dtype=weight.dtype)
        self.criterion.counts = None if counts is None else tuple(map(float, counts))
        self.rule = rule
        self.record = HeadRecord(spec.name) if record is None else record

    @classmethod
    def fit(
        cls,
        features: ArrayLike | Tensor,
        y: ArrayLike | Tensor,
        *,
        method: str = "immax",
        selection: HeldOut | Literal["folds"] | None = None,
        margins: Margins = "search",
        lam: float | None = None,
        num_classes: int | None = None,
        one_logit: bool = False,
        **options: Any,
    ) -> Self:
        """Fit a head to features, to the optimum, with λ and margins chosen on held-out samples.

        Parameters
        ----------
        features : array-like or Tensor of shape (n, d)
            Features, such as those of ``collect_features``, of samples that the network was not
            trained on; with ``selection``, or if nothing is chosen, also of training samples.
        y : array-like or Tensor of int, shape (n,)
            Class numbers; every class has a sample.
        method : str, default="immax"
            "immax" is ``IMMAXClassifierCV``, anything else a method of ``immax.losses.catalog``:
            "ce", "bs", "ldam", "la", "rw", …
        selection : (features, y), list of folds or "folds", optional
            Samples on which λ, margins and other hyper-parameters are chosen. If the network was
            trained on ``features``, they must come from samples that it was not trained on. A list
            of (features, y, held-out features, held-out y) is for cross-fitting: features of
            several networks, each of which was trained without its held-out part. By default,
            cross-validation within ``features``, which is right only if the network was not
            trained on them; "folds" says that it was not.
        margins : "search", "equal", "theory", float or array-like, default="search"
            For "immax": the margins, or the power of the class counts that gives them.
        lam : float, optional
            λ; by default it is chosen among six values. Where features are large (n d C from
            10^9 on), λ is chosen with equal margins, and then the margins at that λ.
        num_classes : int, optional
            The number of classes; the highest label plus one by default.
        one_logit : bool, default=False
            For two classes, return one score, that of class 1, in place of two.
        **options
            Of the search and the fit. For "immax" those of ``IMMAXClassifierCV``: ``lams``,
            ``family``, ``cv``, ``aim``, ``costs``, ``scoring`` (the log-loss by default),
            ``n_jobs``, … For other methods ``method_params`` (values in a list are searched),
            ``lams``, ``cv``, ``scoring``, ``n_jobs``, and those of ``BaselineClassifier``.

        Returns
        -------
        IMMAXHead
            On the CPU, in single precision.

        Raises
        ------
        ValueError
            If a class has no samples, shapes do not match, or an option is invalid.

        Warns
        -----
        UserWarning
            If cross-validation within ``features`` chooses the smallest λ, and the head gets
            99.5 % of them right, as happens with features of samples that the network was trained
            on.
        """
        check_choice("method", method, tuple(METHODS))
        declared = isinstance(selection, str)
        if isinstance(selection, str):
            check_choice("selection", selection, ("folds",))
            selection = None
        data = checked_features(features, y, num_classes)
        check_classes_present(data)
        if one_logit and data.counts.size != 2:
            raise ValueError(f"one_logit is for two classes; got {data.counts.size}")
        if method == "immax" and "method_params" not in options:
            fit = fit_immax(data, selection, margins, lam, **options)
        elif isinstance(margins, str) and margins == "search":
            fit = fit_catalogue(data, selection, method, lam, **options)
        else:
            raise ValueError(f"margins are for method='immax'; got method={method!r}")
        if fit.record.selected_on == "folds" and lam is None and not declared:
            warn_of_fitted_features(data, fit, options.get("lams"))
        weight, bias = torch.tensor(fit.coef), torch.tensor(fit.intercept)
        if len(weight) == 1 and not one_logit:
            weight, bias = torch.cat([-weight, weight]) / 2, torch.cat([-bias, bias]) / 2
        counts = fit.counts.tolist()
        return cls(weight.float(), bias.float(), fit.spec, counts, fit.rule, fit.record)

    @property
    def counts(self) -> tuple[float, ...] | None:
        """Class counts of the training features, if they are known."""
        return self.criterion.counts

    def _scores(self, logits: Tensor) -> Tensor:
        """Return one score per class: one logit h of two classes stands for (-h/2, h/2)."""
        rows = self.out_features
        if rows == 1:
            column = logits.squeeze(-1) if logits.ndim == 2 else logits
            return torch.stack([-column / 2, column / 2], dim=-1)
        if torch._C._get_tracing_state() is None and logits.shape[-1] != rows:
            raise ValueError(
                f"logits must be the scores that the head returns, of shape (N, {rows}); got "
                f"{tuple(logits.shape)} (call the head on features first)"
            )
        return logits

    def log_proba(self, logits: Tensor) -> Tensor:
        """Return the logarithms of the class probabilities by the exact link.

        Parameters
        ----------
        logits : Tensor of shape (N, C), or (C,) for a single sample
            Scores that the head returns; with one logit, of shape (N, 1) or (N,).

        Returns
        -------
        Tensor of shape (N, C) or (C,)
        """
        return self.criterion.log_proba(self._scores(logits))

    def proba(self, logits: Tensor) -> Tensor:
        """Return class probabilities by the exact link.

        Parameters
        ----------
        logits : Tensor of shape (N, C), or (C,) for a single sample
            Scores that the head returns; with one logit, of shape (N, 1) or (N,).

        Returns
        -------
        Tensor of shape (N, C) or (C,)
            They refer to the class shares of the training features.
        """
        return self.criterion.proba(self._scores(logits))

    def predict(
        self,
        logits: Tensor,
        rule: RuleLike | None = None,
        costs: ArrayLike | Tensor | None = None,
    ) -> Tensor:
        """Predict classes.

        Parameters
        ----------
        logits : Tensor of shape (N, C), or (C,) for a single sample
            Scores that the head returns; with one logit, of shape (N, 1) or (N,).
        rule : {"score", "bayes"}, Rule, Aim or name of an aim, optional
            As in the losses. By default the rule that was selected: that of the aim, "bayes" if
            the log-loss was the criterion, and "score" for methods of the catalogue.
        costs : array-like of shape (C,) or (C, C), optional
            The cost of an error on each class, or at (k, j) the cost of predicting j when k is
            true.

        Returns
        -------
        Tensor of int64, shape (N,) or ()
        """
        if rule is None:
            rule = self.rule if costs is None else "bayes"
        return self.criterion.predict(self._scores(logits), rule, costs)

    def save(self, path: str | Path) -> None:
        """Write the head to a safetensors file, atomically; nothing is pickled.

        Columns of the loss are written as the buffers of ``criterion`` hold them. ``rule`` and
        ``record`` are those of the fit, also after ``load_state_dict``.

        Parameters
        ----------
        path : path
            The file to write.
        """
        spec = self.criterion.current_spec()
        write_head(
            path,
            HeadContents(self.weight, self.bias, spec, self.counts, self.rule, self.record),
        )

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a head that ``save`` wrote, without executing anything in the file.

        Parameters
        ----------
        path : path
            The file to read.

        Returns
        -------
        IMMAXHead
            On the CPU.

        Raises
        ------
        ValueError
            If it is not the file of a head, or is damaged.
        """
        parts = read_head(path)
        return cls(parts.weight, parts.bias, parts.spec, parts.counts, parts.rule, parts.record)

    def extra_repr(self) -> str:
        """Return what the module's representation shows in its parentheses.

        Returns
        -------
        str
        """
        lam = "" if self.record.lam is None else f", lam={self.record.lam:.3g}"
        return f"{super().extra_repr()}, method={self.record.method!r}{lam}"
