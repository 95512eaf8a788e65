"""Classes that share a margin."""

import warnings

import torch

from immax.torch.states import States, current_states, index_tensor


def test_a_partition_by_value():
    states = States.of(torch.tensor([2.0, 1.0, 2.0, 0.5]))
    assert states.first == (3, 1, 0)
    assert states.order == (3, 1, 0, 2)
    assert states.sizes == (1, 1, 2)
    assert states.state_of_class == [2, 1, 2, 0]
    assert States.of(None, 3).sizes == (3,)
    assert States.separate(3).state_of_class == [0, 1, 2]


def test_states_follow_the_margins():
    rho = torch.tensor([1.0, 1.0, 2.0])
    known = current_states(rho)
    assert current_states(rho, known) is known
    rho[0] = 3
    assert len(current_states(rho, known).sizes) == 3
    assert current_states(None) is None
    assert current_states(rho.to("meta")).sizes == (1, 1, 1)


def test_a_constant_raises_no_warning_in_a_trace():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`torch.jit", DeprecationWarning)  # of recent releases
        traced = torch.jit.trace(lambda h: h[:, index_tensor([1, 0], h)], torch.zeros(2, 2))
    torch.testing.assert_close(traced(torch.eye(2)), torch.eye(2)[:, [1, 0]])
