import numpy as np

from immax.search.samples import SearchSamples

X = np.zeros((60, 2))
Y = np.arange(60) % 3


def test_weights_of_a_training_part():
    weight = np.arange(60.0)
    samples = SearchSamples(X, Y, weight, np.array(["a", "b", "c"]))
    train = np.array([3, 5, 5, 7])
    own = samples.training_weight(train)
    assert own[5] == 10
    assert own.sum() == 3 + 10 + 7
    np.testing.assert_allclose(samples.class_counts(own), [3, 7, 10])
    plain = SearchSamples(X, Y, None, np.array(["a", "b", "c"]))
    assert plain.training_weight(train)[5] == 2
