"""The process that fits for another one, without the process."""

import io
import pickle

import numpy as np
from mixed_table import mixed_table

from immax.compare import Protocol
from immax.compare.fold_fits import FoldData, FoldFitter, FoldTask
from immax.compare.target import encode_target
from immax.compare.worker import serve
from immax.tabular import describe_columns


def make_data():
    X, y = mixed_table(60)
    target, protocol = encode_target(y), Protocol("f1", folds=2)
    splits = protocol.splits(target.codes)
    return FoldData(X, target.classes, target.codes, describe_columns(X), splits, protocol)


def test_outcomes_are_those_of_the_same_fits_here():
    data, sink = make_data(), io.BytesIO()
    tasks = [(FoldTask("logistic", 0), None), (FoldTask("logistic", 1), 0.0), ("odd", None)]
    serve(io.BytesIO(b"".join(pickle.dumps(one) for one in (data, *tasks))), sink)
    sink.seek(0)
    first, second, third = (pickle.load(sink) for _ in tasks)
    expected = FoldFitter(data).attempt(FoldTask("logistic", 0))
    np.testing.assert_array_equal(first.labels, expected.labels)
    np.testing.assert_array_equal(first.proba, expected.proba)
    assert isinstance(second, TimeoutError)
    assert isinstance(third, AttributeError)


def test_it_ends_with_its_input():
    sink = io.BytesIO()
    serve(io.BytesIO(pickle.dumps(make_data())[:100]), sink)
    serve(io.BytesIO(), sink)
    assert not sink.getvalue()
