"""A callback that notes down what it is told."""

import pytest

from immax.callbacks import SUPPORTED

needs_callbacks = pytest.mark.skipif(not SUPPORTED, reason="scikit-learn before 1.9")


class Recorder:
    """Notes down what it is told."""

    max_propagation_depth = None

    def __init__(self, fail_at=None):
        self.fail_at = fail_at
        self.begun, self.ended, self.models = [], [], []
        self.n_setups = self.n_teardowns = 0

    def setup(self, estimator, context):
        self.n_setups += 1

    def teardown(self, estimator, context):
        self.n_teardowns += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(path_of(context))
        if context.task_name == self.fail_at:
            raise OSError("the disk is full")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.ended.append(path_of(context))
        if fitted_estimator is not None:
            self.models.append(fitted_estimator)


def path_of(context):
    parents = () if context.parent is None else path_of(context.parent)
    return (*parents, context.task_name)
