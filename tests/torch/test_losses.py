"""The modules: margins, buffers, files, predictions, and their other surrogates."""

import copy
import pickle

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch_cases import COUNTS, PARAMS, make

import immax.torch as it
from immax.losses import catalog, surrogates
from immax.margins import theory_margins
from immax.torch.functional import spec_loss
from immax.torch.surrogates import immax_exponential_loss, immax_hinge_loss

C = COUNTS.size
MODULES = {
    "ce": it.CrossEntropyLoss,
    "rw": it.ReweightedLoss,
    "bs": it.BalancedSoftmaxLoss,
    "equal": it.EqualizationLoss,
    "la": it.LogitAdjustedLoss,
    "cb": it.ClassBalancedLoss,
    "focal": it.FocalLoss,
    "ldam": it.LDAMLoss,
    "vs": it.VectorScalingLoss,
}


def test_there_is_a_module_for_every_method():
    assert {"immax", *MODULES} == set(catalog.METHODS)


@pytest.mark.parametrize("method", MODULES)
def test_modules_are_the_catalogue(method, batch):
    logits, target = batch
    module = MODULES[method](COUNTS, **PARAMS.get(method, {}), dtype=torch.float64)
    torch.manual_seed(0)
    found = module(logits, target)
    torch.manual_seed(0)
    assert found.item() == pytest.approx(spec_loss(logits, target, make(method)).item(), rel=1e-13)
    assert method in repr(module)
    with pytest.raises(ValueError, match="logits have 3 classes, the loss has 5"):
        module(logits[:, :3], target.clamp_max(2))


def test_immax_margins():
    expected = theory_margins(COUNTS, total=C)
    np.testing.assert_allclose(it.IMMAXLoss(COUNTS).rho.numpy(), expected, rtol=1e-6)
    paper = it.IMMAXLoss(COUNTS, total=1).rho
    np.testing.assert_allclose(paper.numpy(), theory_margins(COUNTS), rtol=1e-6)
    assert it.IMMAXLoss(COUNTS, power=0).rho.tolist() == [1.0] * C
    assert it.IMMAXLoss(rho=[1.0, 2.0]).rho.tolist() == [1.0, 2.0]
    shared = it.IMMAXLoss(COUNTS, groups=3).rho
    assert len(set(shared.tolist())) == 3
    assert shared[2] == shared[4]
    by_hand = it.IMMAXLoss([100, 20, 60], groups=[0, 1, 1]).rho
    assert by_hand[1] == by_hand[2]
    assert by_hand[0] / by_hand[1] == pytest.approx((100 / 40) ** (1 / 3), rel=1e-6)


@pytest.mark.parametrize("rows", [8, 40_000])
def test_equal_counts_are_cross_entropy_to_the_last_bit(rows):
    logits = torch.randn(rows, 7)
    target = torch.randint(0, 7, (rows,))
    ours, theirs = (logits.clone().requires_grad_() for _ in range(2))
    found, expected = it.IMMAXLoss([123] * 7)(ours, target), F.cross_entropy(theirs, target)
    found.backward()
    expected.backward()
    assert found == expected
    assert torch.equal(ours.grad, theirs.grad)
    moved = it.IMMAXLoss([123] * 7).double()
    assert moved(logits.double(), target) == F.cross_entropy(logits.double(), target)


def test_learnable_margins_learn_and_keep_their_sum(batch):
    logits, target = batch
    criterion = it.IMMAXLoss(COUNTS, learnable=True)
    optimizer = torch.optim.SGD(criterion.parameters(), 1.0)
    before = criterion.rho.detach().clone()
    np.testing.assert_allclose(before.numpy(), it.IMMAXLoss(COUNTS).rho.numpy(), rtol=1e-5)
    criterion(logits.float(), target).backward()
    optimizer.step()
    assert not torch.allclose(criterion.rho, before)
    assert criterion.rho.sum().item() == pytest.approx(C, rel=1e-5)
    with pytest.raises(ValueError, match="learnt margins cannot be set"):
        criterion.set_margins(before)


@pytest.mark.parametrize("learnable", [False, True])
def test_buffers_follow_and_come_back(learnable, batch, tmp_path):
    logits, target = batch
    criterion = it.IMMAXLoss(COUNTS, learnable=learnable, weight=[1.0] * (C - 1) + [2.0])
    state = criterion.state_dict()
    assert ("log_rho" if learnable else "fixed_rho") in state
    assert "class_weight" in state
    torch.save(state, tmp_path / "loss.pt")
    other = it.IMMAXLoss([1] * C, learnable=learnable, weight=[1.0] * C)
    other.load_state_dict(torch.load(tmp_path / "loss.pt", weights_only=True))
    assert other(logits.float(), target) == criterion(logits.float(), target)
    assert criterion.half().rho.dtype == torch.float16
    assert criterion.to("meta").rho.device.type == "meta"
    for copied in (copy.deepcopy(other), pickle.loads(pickle.dumps(other))):
        assert copied(logits.float(), target) == other(logits.float(), target)


def test_spec_modules_follow_too(spec, batch):
    logits, target = batch

    def loss(module):
        torch.manual_seed(0)
        return module(logits.float(), target)

    module = it.SpecLoss(spec)
    other = it.SpecLoss(make(spec.name, np.roll(COUNTS, 1)))
    if module.state_dict():  # cross-entropy has none, and the focal loss only a number
        assert loss(other) != loss(module)
    other.load_state_dict(module.state_dict())
    assert loss(other) == loss(module)
    half = it.SpecLoss(spec).half()
    assert all(b.dtype in (torch.float16, torch.bool) for b in half.buffers())


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_probabilities_and_predictions(loss):
    criterion = (it.IMMAXLoss if loss == "logistic" else it.IMMAXExponentialLoss)(COUNTS)
    logits = torch.zeros(4, C)
    p = criterion.proba(logits)
    torch.testing.assert_close(p.sum(1), torch.ones(4))
    # Equal scores: chances as the margins are.
    torch.testing.assert_close(p[0], criterion.rho / criterion.rho.sum())
    assert criterion.predict(logits).tolist() == [C - 1] * 4  # a tie goes to the highest
    assert criterion.predict(logits, rule="bayes").tolist() == [0] * 4
    costs = [1.0, 1, 1, 1, 1000]
    assert criterion.predict(logits, rule="bayes", costs=costs).tolist() == [C - 1] * 4
    assert criterion.predict(logits[0]).item() == C - 1
    assert criterion.predict(logits[0], rule="bayes").item() == 0
    assert criterion.proba(torch.zeros(2, C, 3, 3)).shape == (2, C, 3, 3)
    with pytest.raises(ValueError, match="rule must be"):
        criterion.predict(logits, rule="best")
    with pytest.raises(ValueError, match="rule must be"):
        criterion.predict(logits, costs=costs)


def test_hinge_and_exponential_are_the_surrogates(batch):
    logits, target = batch
    h, y = logits.numpy() / 3, target.numpy()
    rho = theory_margins(COUNTS, total=C)
    tensors = torch.tensor(h), target, torch.tensor(rho)
    found = immax_hinge_loss(*tensors, reduction="none").numpy()
    expected = surrogates.max_form(surrogates.hinge, h, y, rho)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    found = immax_exponential_loss(*tensors, reduction="none", form="max").numpy()
    expected = surrogates.max_form(surrogates.exponential, h, y, rho)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    found = immax_exponential_loss(*tensors, reduction="none").numpy()
    loops = [
        sum(np.exp((h[i, j] - h[i, k]) / rho[k]) for j in range(C) if j != k)
        for i, k in enumerate(y)
    ]
    np.testing.assert_allclose(found, loops, rtol=1e-12)


@pytest.mark.parametrize("module", [it.IMMAXHingeLoss, it.IMMAXExponentialLoss])
def test_other_surrogates_reduce_as_cross_entropy_does(module, batch):
    logits, target = batch
    target[::4] = -100
    weight = [1.0, 2, 3, 4, 5]
    none = module(COUNTS, reduction="none")(logits, target)
    assert not none[::4].any()
    counted = target != -100
    mean = module(COUNTS)(logits, target)
    torch.testing.assert_close(mean, none[counted].mean())
    weights = torch.tensor(weight, dtype=torch.float64)[target[counted]]
    weighed = module(COUNTS, weight=weight)(logits, target)
    torch.testing.assert_close(weighed, (none[counted] * weights).sum() / weights.sum())
    image = module(COUNTS)(torch.zeros(2, C, 3, 3), torch.zeros(2, 3, 3, dtype=torch.long))
    assert image.shape == ()
    single = module(COUNTS, reduction="none")(logits[1], target[1])
    torch.testing.assert_close(single, none[1])
    with pytest.raises(IndexError, match="target holds 5"):
        module(COUNTS)(logits, torch.full_like(target, C))


def test_the_max_form_has_no_probabilities():
    with pytest.raises(ValueError, match="max form"):
        it.IMMAXExponentialLoss(COUNTS, form="max").proba(torch.zeros(1, C))
    with pytest.raises(ValueError, match="form must be"):
        it.IMMAXExponentialLoss(COUNTS, form="min")
    assert not hasattr(it.IMMAXHingeLoss(COUNTS), "proba")


def test_binary_loss():
    h, y = torch.randn(20, dtype=torch.float64), torch.randint(0, 2, (20,)).double()
    same = it.IMMAXBinaryLoss(alpha=0.5, dtype=torch.float64)
    torch.testing.assert_close(same(h, y), F.binary_cross_entropy_with_logits(h, y))
    soft = torch.rand(20, dtype=torch.float64)
    torch.testing.assert_close(same(h, soft), F.binary_cross_entropy_with_logits(h, soft))
    criterion = it.IMMAXBinaryLoss(alpha=0.2, total=1, dtype=torch.float64)
    expected = torch.where(y == 1, F.softplus(-h / 0.2), F.softplus(h / 0.8)).mean()
    torch.testing.assert_close(criterion(h, y), expected)
    two = it.IMMAXLoss([900, 100], total=1, dtype=torch.float64)
    one = it.IMMAXBinaryLoss([900, 100], total=1, dtype=torch.float64)
    scores = torch.stack([-h / 2, h / 2], 1)
    torch.testing.assert_close(one.proba(h), two.proba(scores)[:, 1])
    assert one.proba(torch.tensor([0.0], dtype=torch.float64)).item() == pytest.approx(
        1 / (1 + 9 ** (1 / 3))
    )
    assert one.predict(torch.tensor([0.1, -0.1])).tolist() == [1, 0]
    zero = torch.zeros(1, dtype=torch.float64)
    assert one.predict(zero, rule="bayes").tolist() == [0]
    assert one.predict(zero, rule="bayes", costs=[1.0, 10.0]).tolist() == [1]


@pytest.mark.parametrize(
    ("make_it", "message"),
    [
        (lambda: it.IMMAXLoss(), "counts or rho"),
        (lambda: it.IMMAXLoss([5.0, -1.0]), "counts"),
        (lambda: it.IMMAXLoss(rho=[1.0, 0.0]), "rho"),
        (lambda: it.IMMAXLoss(COUNTS, total="sum"), "total must be"),
        (lambda: it.IMMAXLoss(COUNTS, total=0.0), "total must be"),
        (lambda: it.IMMAXLoss(COUNTS, total=np.inf), "total must be"),
        (lambda: it.IMMAXLoss(COUNTS, power=np.nan), "power must be"),
        (lambda: it.IMMAXLoss(COUNTS, groups=[0, 1]), "groups must"),
        (lambda: it.IMMAXLoss([1000, 1], power=20), "rho must be positive"),
        (lambda: it.IMMAXLoss([10, 10, 10])(torch.zeros(2, 5), torch.zeros(2).long()), "rho must"),
        (lambda: it.IMMAXBinaryLoss(), "one of counts and alpha"),
        (lambda: it.IMMAXBinaryLoss(alpha=1.0), "alpha must be"),
        (lambda: it.IMMAXBinaryLoss([1, 2, 3]), "two classes"),
        (lambda: it.LDAMLoss(COUNTS, C=-1.0), "C must be"),
        (lambda: it.IMMAXLoss(COUNTS)(torch.zeros(2, 3), torch.zeros(2).long()), "rho must have"),
        (lambda: it.IMMAXBinaryLoss(alpha=0.5)(torch.zeros(2), torch.zeros(3)), "target must"),
    ],
)
def test_bad_arguments_are_named(make_it, message):
    with pytest.raises(ValueError, match=message):
        make_it()


class Pictures(torch.utils.data.Dataset):
    """A data set whose samples must not be decoded."""

    targets = (0, 0, 2, 1, 0)

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, index):
        raise AssertionError("decoded")


def test_counts_from_whatever_holds_labels():
    labels = torch.tensor(Pictures.targets)
    subset = torch.utils.data.Subset(Pictures(), [0, 2, 3])
    tensors = torch.utils.data.TensorDataset(torch.zeros(5, 2), labels)
    for source in (Pictures(), labels, Pictures.targets, labels.numpy(), tensors):
        assert it.class_counts(source).tolist() == [3, 1, 1]
    assert it.class_counts(subset).tolist() == [1, 1, 1]
    both = torch.utils.data.ConcatDataset([subset, Pictures()])
    assert it.class_counts(both).tolist() == [4, 2, 2]
    assert it.class_counts(labels, num_classes=4).tolist() == [3, 1, 1, 0]
    assert torch.equal(it.IMMAXLoss(Pictures()).rho, it.IMMAXLoss([3, 1, 1]).rho)
    assert torch.equal(it.IMMAXLoss(labels).rho, it.IMMAXLoss([3, 1, 1]).rho)


def test_labels_are_read_from_the_samples_where_there_is_no_list():
    class Plain(torch.utils.data.Dataset):
        def __len__(self):
            return 5

        def __getitem__(self, index):
            return None, Pictures.targets[index]

    assert it.class_counts(Plain()).tolist() == [3, 1, 1]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([], "non-empty"),
        ([[0, 1]], "one-dimensional"),
        ([0.5, 1.0], "class numbers"),
        ([0, -1], "negative"),
    ],
)
def test_bad_labels_are_refused(source, message):
    with pytest.raises(ValueError, match=message):
        it.class_counts(source)
    with pytest.raises(ValueError, match="labels go up to 3"):
        it.class_counts([0, 3], num_classes=2)


def test_a_training_loop_changes_in_one_line():
    model = nn.Linear(4, 3)
    x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
    for criterion in (nn.CrossEntropyLoss(), it.IMMAXLoss([10, 4, 2])):
        criterion(model(x), y).backward()
