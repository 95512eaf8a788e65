"""IMMAX and the methods of the catalogue for CatBoost."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from immax.arrays import Array, Features
from immax.boosting.boosters import attach, find_description, has_description
from immax.boosting.catboost_predictions import CatBoostPredictions, named_metrics
from immax.boosting.catboost_training import (
    RATES,
    ROUNDS,
    catboost_metric,
    catboost_objective,
    choose_learning_rate,
)
from immax.boosting.description import Description, read_file_beside
from immax.boosting.estimator import (
    CLASS_WEIGHTS,
    LOSS_PARAMETERS,
    check_class_weights,
    check_library_parameters,
)
from immax.boosting.eval_metrics import find_metrics
from immax.boosting.loss import BoostingLoss, Margins
from immax.decisions.aims import Aim
from immax.documentation import DocumentationLink
from immax.validation import check_choice

try:
    from catboost import Pool
except ModuleNotFoundError as error:
    raise ImportError('immax.boosting needs CatBoost: pip install "immax[boosting]"') from error

__all__ = ["IMMAXCatBoostClassifier"]


EvalSet = tuple[Features, ArrayLike]
COLUMNS = ("cat_features", "text_features", "embedding_features")
LOGGING = ("verbose", "silent", "logging_level", "verbose_eval")
OTHER_CLASS_WEIGHTS = tuple(
    name
    for name in CLASS_WEIGHTS
    if name not in ("class_weights", "auto_class_weights", "scale_pos_weight")
)
"""Names of class weights in other libraries."""
FORMATS = ("cbm", "json", "cpp", "python")
"""Files that keep the description, and code that returns scores."""


class IMMAXCatBoostClassifier(DocumentationLink, CatBoostPredictions):
    """``CatBoostClassifier`` with a margin for each class, or with a method of the catalogue.

    All other parameters are CatBoost's. Boosting begins at the constant scores that minimise the
    loss, which become the model's bias. With three classes or more, CatBoost calls a Python
    objective sample by sample: it is slower than CatBoost's own, and threads would only wait for
    each other, so one thread is used unless ``thread_count`` is set.

    Parameters
    ----------
    method, margins, power, rule, aim, costs, cv, method_params
        As in IMMAXXGBClassifier; method "equal", whose loss is random, is not available.
    **kwargs
        Parameters of CatBoostClassifier, except ``loss_function``, which the method determines,
        and ``class_weights``, ``auto_class_weights`` and ``scale_pos_weight``, which the link
        would not undo. Leaves are estimated as for CatBoost's own objectives, and the learning
        rate is the one that CatBoost would choose for them. ``eval_metric`` and ``custom_metric``
        are evaluated with the link's probabilities and the rule's labels. Nothing is printed
        unless you ask for it.

    Attributes
    ----------
    margins_ : ndarray of shape (n_classes,), or None
        The margins of method "immax".
    loss_ : BoostingLoss
        The loss that was boosted.
    rule_ : Rule or None
        How probabilities become labels; None if the highest score decides.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = IMMAXCatBoostClassifier(iterations=20, allow_writing_files=False)
    >>> bool(model.fit(X, y).score(X, y) > 0.97)
    True
    """

    _init_params: dict[str, Any]
    _fold_options: ClassVar[tuple[str, ...]] = COLUMNS
    _sample_options: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        *,
        method: str = "immax",
        margins: Margins = "theory",
        power: float | None = None,
        rule: str = "score",
        aim: str | Aim | None = None,
        costs: ArrayLike | None = None,
        cv: Any = 5,
        method_params: dict[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        # CatBoost refuses parameters that it does not know before ``fit`` could name another way.
        check_class_weights({name: kwargs.pop(name, None) for name in OTHER_CLASS_WEIGHTS})
        super().__init__(**kwargs)
        self._set_loss_parameters(method, margins, power, rule, aim, costs, cv, method_params)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the parameters of CatBoost and of the loss.

        Parameters
        ----------
        deep : bool, default=True
            Not used; it is there for scikit-learn.

        Returns
        -------
        dict
            Those of CatBoost only where they were given.
        """
        own = {name: getattr(self, name) for name in LOSS_PARAMETERS}
        return {**super().get_params(), **own}

    def get_param(self, key: str) -> Any:
        """Return a parameter of CatBoost or of the loss.

        Parameters
        ----------
        key : str
            The name of the parameter.

        Returns
        -------
        object
            None for a parameter of CatBoost that was not given.
        """
        return getattr(self, key) if key in LOSS_PARAMETERS else super().get_param(key)

    def set_params(self, **params: Any) -> Self:
        """Set parameters of CatBoost and of the loss.

        Parameters
        ----------
        **params
            Parameters by name.

        Returns
        -------
        self
        """
        for name in LOSS_PARAMETERS:
            if name in params:
                setattr(self, name, params.pop(name))
        if params:
            super().set_params(**params)
        return self

    def __getstate__(self) -> dict[str, Any]:
        names = (*LOSS_PARAMETERS, "loss_", "_aim_rule", "_custom_history")
        own = {name: getattr(self, name) for name in names if hasattr(self, name)}
        return {**super().__getstate__(), "_immax": own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        own = state.pop("_immax", {})
        super().__setstate__(state)
        for name, value in own.items():
            setattr(self, name, value)
        if "loss_" in own:
            self._set_loss(own["loss_"], own.get("_aim_rule"))

    def fit(
        self,
        X: Features,
        y: ArrayLike | None = None,
        cat_features: Sequence[int | str] | None = None,
        sample_weight: ArrayLike | None = None,
        eval_set: EvalSet | Sequence[EvalSet] | None = None,
        **options: Any,
    ) -> Self:
        """Fit the model to features and labels; a ``Pool`` is not accepted.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Labels of any type. Without them an error says what to pass.
        cat_features : sequence of int or str, optional
            The categorical features.
        sample_weight : array-like of shape (n,), optional
            Sample weights.
        eval_set : (X, y) or a sequence of them, optional
            Evaluation sets.
        **options
            Other arguments of ``CatBoostClassifier.fit``, except ``baseline`` and ``init_model``.

        Returns
        -------
        IMMAXCatBoostClassifier
            The fitted estimator.
        """
        params = super().get_params()
        rounds = next((name for name in ROUNDS if name in params), "iterations")
        reserved = ("loss_function", "objective", "classes_count", "class_names")
        check_library_parameters(params, reserved, rounds)
        sets = _evaluation_sets(X, eval_set, options)
        early, codes = self._make_loss(
            X, y, sample_weight, params.get("random_seed", params.get("random_state"))
        )
        loss = early.loss
        if loss.spec.random:
            raise ValueError("method='equal' has a random loss, which CatBoost does not support")
        columns = {name: options.pop(name, None) or params.get(name) for name in COLUMNS[1:]}
        columns["cat_features"] = (
            params.get("cat_features") if cat_features is None else cat_features
        )
        encoded = loss.encode_sets(sets)
        pool = _make_pool(X, codes, columns, sample_weight, loss)
        pools = [_make_pool(data, own, columns, None, loss) for data, own in encoded]
        further = named_metrics(params.get("custom_metric"), len(loss.classes))
        given = self._init_params
        # CatBoost keeps a copy of its parameters from the first time that they are used.
        self._init_params = self._training_parameters(early, len(codes), bool(pools), options)
        self._canonized_params = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # CatBoost warns that it cannot compile these
                super().fit(pool, eval_set=pools or None, **options)
        finally:
            self._init_params, self._canonized_params = given, None
        self.set_scale_and_bias(1.0, loss.constants.tolist())
        self._set_loss(loss, None)
        self._custom_history = self._histories(encoded, columns, further, early)
        rule = self._choose_rule(loss, X, codes, sample_weight, columns)
        self._set_loss(loss, rule)
        attach(self, self._description())
        return self

    def _training_parameters(
        self, early: Description, n: int, has_eval_set: bool, options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the parameters of CatBoost's fit: those that were given, and ours."""
        given = self._init_params
        loss = early.loss
        skipped = (*COLUMNS, *CLASS_WEIGHTS, "eval_metric", "custom_metric")
        metrics = find_metrics(given.get("eval_metric"), "catboost", len(loss.classes))
        if len(metrics) > 1:
            raise ValueError("eval_metric is a single metric; pass further ones as custom_metric")
        rate = choose_learning_rate({**given, **options}, n, len(loss.classes), has_eval_set)
        quiet = not any(one.get(name) is not None for one in (given, options) for name in LOGGING)
        return {
            "leaf_estimation_method": "Newton",
            "leaf_estimation_iterations": 10 if loss.binary else 1,
            **({} if rate is None else {"learning_rate": rate}),
            **({"logging_level": "Silent"} if quiet else {}),
            **({} if loss.binary else {"classes_count": len(loss.classes), "thread_count": 1}),
            **{name: value for name, value in given.items() if name not in skipped},
            "eval_metric": catboost_metric(metrics[0], early),
            "loss_function": catboost_objective(loss),
        }

    def _fold_parameters(self) -> dict[str, Any]:
        given = self._init_params
        rounds = next((name for name in ROUNDS if name in given), "iterations")
        chosen = not any(given.get(name) is not None for name in RATES)
        rate = {"learning_rate": self.learning_rate_} if chosen else {}
        return {rounds: self.tree_count_, "use_best_model": False, **rate}

    def save_model(
        self,
        fname: str | Path,
        format: str = "cbm",  # noqa: A002
        *arguments: Any,
        **options: Any,
    ) -> None:
        """Save the model in CatBoost's own format, with a description of its scores.

        The code of formats "cpp" and "python" returns scores.

        Parameters
        ----------
        fname : str or Path
            The file to write.
        format : {"cbm", "json", "cpp", "python"}, default="cbm"
            The format of the file.
        *arguments
            Further positional arguments of ``CatBoostClassifier.save_model``.
        **options
            Its other arguments.

        Raises
        ------
        ValueError
            If the format is another one.
        """
        check_choice("format", format, FORMATS)
        attach(self, self._description())
        super().save_model(fname, format, *arguments, **options)

    def load_model(
        self,
        fname: str | Path | None = None,
        format: str = "cbm",  # noqa: A002
        **options: Any,
    ) -> Self:
        """Read a file, stream or blob that ``save_model`` wrote.

        Parameters
        ----------
        fname : str or Path, optional
            The file, unless ``stream`` or ``blob`` is among the options.
        format : str, default="cbm"
            The format of the file.
        **options
            Other arguments of ``CatBoostClassifier.load_model``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the model does not say what its scores mean.
        """
        super().load_model(fname, format, **options)
        if has_description(self):
            self._set_description(find_description(self))
        else:
            self._set_loss(read_file_beside(str(fname)).loss, None)
        return self


def _evaluation_sets(X: Features, eval_set: Any, options: Mapping[str, Any]) -> Sequence[EvalSet]:
    """Return pairs of features and labels, or say what is not accepted."""
    for name in ("baseline", "init_model"):
        if options.get(name) is not None:
            raise ValueError(
                f"{name} is not supported: boosting begins at the best constant scores"
            )
    sets = [eval_set] if isinstance(eval_set, (tuple, Pool)) else list(eval_set or ())
    for name, data in (("X", X), *(("eval_set", one) for one in sets)):
        if isinstance(data, (Pool, str, Path)):
            wanted = "features, with labels as y" if name == "X" else "(X, y) or a list of them"
            raise TypeError(
                f"{name} must be {wanted}; got a {type(data).__name__}, whose labels cannot be "
                "encoded"
            )
    return sets


def _make_pool(
    X: Features,
    codes: Array,
    columns: Mapping[str, Any],
    weight: ArrayLike | None,
    loss: BoostingLoss,
) -> Pool:
    return Pool(X, codes, weight=weight, baseline=loss.starting_scores(len(codes)), **columns)
