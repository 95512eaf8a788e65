"""The tasks of a fit, as the callbacks of scikit-learn see them.

scikit-learn has callbacks (``ProgressBar``, ``ScoringMonitor``) since version 1.9. With earlier
versions ``CallbackSupport`` is an empty class and tasks do nothing, so that no estimator asks which
version is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from immax.arrays import Array, Features

__all__ = ["CallbackSupport", "IterationTasks", "Task", "fit_task"]

if TYPE_CHECKING:

    class CallbackSupport:
        """Base of estimators with callbacks, which scikit-learn has since version 1.9."""

        def _init_callback_context(self, *, max_subtasks: int | None) -> Any: ...

    def _tear_down(estimator: CallbackSupport) -> None: ...

    SUPPORTED: bool
else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:
        SUPPORTED = False

        class CallbackSupport:
            """Base of estimators with callbacks, which scikit-learn has since version 1.9."""
    else:
        SUPPORTED = True

        class CallbackSupport(CallbackSupportMixin):
            """Base of estimators with callbacks, which scikit-learn has since version 1.9."""

        @with_callbacks
        def _tear_down(estimator):
            """End the fit of an estimator: ``with_callbacks`` does so after its method."""


class Task:
    """A task of a fit: the fit itself, a fold of a search, a cell, an iteration.

    As a context manager it tells the callbacks that it begins and, unless an exception is raised,
    that it ends.

    Parameters
    ----------
    estimator : CallbackSupport
        The estimator that is fitted.
    context : sklearn.callback.CallbackContext or None
        The place of the task in the tree of tasks; None without callbacks in scikit-learn.
    data : dict, optional
        The training samples that callbacks may ask for: X, y and metadata.
    """

    def __init__(
        self, estimator: CallbackSupport, context: Any, data: Mapping[str, Any] | None = None
    ) -> None:
        self._estimator = estimator
        self._context = context
        self.data = data or {}

    @property
    def watched(self) -> bool:
        """Whether the estimator has callbacks."""
        return hasattr(self._estimator, "_skl_callbacks")

    def subtask(
        self,
        name: str,
        *,
        n_subtasks: int | None = 0,
        ordered: bool = True,
        number: int | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> Task:
        """Return a part of this task.

        Parameters
        ----------
        name : str
            What callbacks show.
        n_subtasks : int or None, default=0
            How many parts the new task has at most; None if that is not known.
        ordered : bool, default=True
            Whether its parts are done one after the other.
        number : int, optional
            The new task's place among the parts of this one, if those are not ordered.
        data : dict, optional
            The training samples of the new task.

        Returns
        -------
        Task
        """
        if self._context is None:
            return self
        context = self._context.subcontext(
            task_name=name, task_id=number, max_subtasks=n_subtasks, sequential_subtasks=ordered
        )
        return Task(self._estimator, context, data)

    def begin(self) -> None:
        """Tell the callbacks that the task begins."""
        if self._context is not None:
            self._context.call_on_fit_task_begin(estimator=self._estimator, **self.data)

    def end(self, attributes: Callable[[], dict[str, Any]] | None = None) -> None:
        """Tell the callbacks that the task ends.

        Parameters
        ----------
        attributes : callable, optional
            Returns the fitted attributes that the estimator would have if the fit ended here.
        """
        if self._context is not None:
            self._context.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes=attributes, **self.data
            )

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.end()

    @contextmanager
    def passed_to(self, estimator: Any) -> Iterator[None]:
        """Let this task be the fit of another estimator, which reports its own parts.

        Parameters
        ----------
        estimator : estimator
            It is fitted within the block.

        Yields
        ------
        None
        """
        if self._context is None:
            yield
            return
        with self._context.propagate_callback_context(estimator):
            self.begin()
            yield
        self.end()


@contextmanager
def fit_task(
    estimator: CallbackSupport,
    X: Features | None = None,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    n_subtasks: int | None = None,
    predicts: bool = True,
) -> Iterator[Task]:
    """Report a block as the fit of an estimator; callbacks are torn down even if it fails.

    Parameters
    ----------
    estimator : CallbackSupport
        The estimator.
    X : {array-like, sparse matrix, data frame} of shape (n, d), optional
        The features as they were given, on which callbacks may score the model.
    y : array-like of shape (n,), optional
        The labels.
    sample_weight : array-like of shape (n,), optional
        Their weights.
    n_subtasks : int or None, default=None
        How many parts the fit has at most; None if that is not known.
    predicts : bool, default=True
        Whether the estimator can predict at the end of the block.

    Yields
    ------
    Task
        The whole fit.
    """
    if not SUPPORTED:
        with _unchanged_on_failure(estimator):
            yield Task(estimator, None)
        return
    metadata = None if sample_weight is None else {"sample_weight": sample_weight}
    try:
        context = estimator._init_callback_context(max_subtasks=n_subtasks)
        task = Task(estimator, context, {"X": X, "y": y, "metadata": metadata})
        with _unchanged_on_failure(estimator):
            task.begin()
            yield task
            task.end(dict if predicts else None)  # no attributes are to be replaced
    finally:
        _tear_down(estimator)


@contextmanager
def _unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """Leave an earlier fit as it was if this one fails or is interrupted.

    Otherwise the new order of the features, say, would be taken for that of the old coefficients.
    """
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class IterationTasks:
    """The iterations of a solver as tasks, each of which begins when the one before it ends.

    The last one ends without a new iterate: there the solver finds that it is done.

    Parameters
    ----------
    fit : Task
        The task that the iterations are parts of.
    attributes : callable
        Returns the fitted attributes of an estimator with given parameters.
    """

    def __init__(self, fit: Task, attributes: Callable[[Array], dict[str, Any]]) -> None:
        self._fit = fit
        self._attributes = attributes
        self._begin_next()

    def _begin_next(self) -> None:
        self._current = self._fit.subtask("iteration", data=self._fit.data)
        self._current.begin()

    def __call__(self, theta: Array) -> None:
        """Report an iterate."""
        self._current.end(lambda: self._attributes(theta))
        self._begin_next()

    def close(self) -> None:
        """Report that the solver is done."""
        self._current.end()
