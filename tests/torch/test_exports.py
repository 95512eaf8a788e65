"""Probabilities in exported programs, for batches of another size."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch_cases import needs_exporter

import immax.torch as it
from immax.torch.losses import MODULES

COUNTS = [700.0, 200.0, 60.0, 60.0, 15.0]  # two classes share a margin
ROWS = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
OTHERS = torch.randn(8, 4, generator=torch.Generator().manual_seed(1))
BATCH = ({0: torch.export.Dim("n")},)


class Network(nn.Module):
    def __init__(self, criterion, method="proba"):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(4, 5)
        self.criterion = criterion
        self.method = method

    def forward(self, x):
        return getattr(self.criterion, self.method)(self.layer(x))


@needs_exporter
@pytest.mark.parametrize("method", ["immax", "ldam", "equal"])
def test_export(method):
    network = Network(MODULES[method](COUNTS))
    program = torch.export.export(network, (ROWS,), dynamic_shapes=BATCH)
    torch.testing.assert_close(program.module()(OTHERS), network(OTHERS))


@needs_exporter
def test_export_of_decisions_and_of_learnt_margins():
    criterion = it.IMMAXLoss(COUNTS, learnable=True)
    with torch.no_grad():
        criterion.log_rho[3] += 0.5  # the two classes no longer share a margin
    network = Network(criterion, "log_proba").eval()
    program = torch.export.export(network, (ROWS,), dynamic_shapes=BATCH)
    torch.testing.assert_close(program.module()(OTHERS), network(OTHERS))
    network.method = "predict"
    program = torch.export.export(network, (ROWS,), dynamic_shapes=BATCH)
    assert torch.equal(program.module()(OTHERS), network(OTHERS))


@needs_exporter
def test_margins_that_no_longer_fit_an_exported_program_give_nan():
    network = Network(it.IMMAXLoss(COUNTS))
    module = torch.export.export(network, (ROWS,), dynamic_shapes=BATCH).module()
    state = module.state_dict()
    state["criterion.fixed_rho"][0] = 2.5
    network.criterion.rho[0] = 2.5
    torch.testing.assert_close(module(OTHERS), network(OTHERS))  # a class of its own
    state["criterion.fixed_rho"][3] = 2.5
    assert module(OTHERS).isnan().all()


@pytest.mark.parametrize("method", list(MODULES))
def test_trace(method):
    network = Network(MODULES[method](COUNTS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of torch.jit
        traced = torch.jit.trace(network, ROWS)
    torch.testing.assert_close(traced(OTHERS), network(OTHERS))


def test_compile():
    criterion = it.IMMAXLoss(COUNTS)
    compiled = torch.compile(criterion.proba, backend="eager", fullgraph=True)
    logits = torch.randn(6, 5)
    torch.testing.assert_close(compiled(logits), criterion.proba(logits))


@needs_exporter
def test_onnx():
    pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    network = Network(it.IMMAXLoss(COUNTS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter
        program = torch.onnx.export(
            network, (ROWS,), dynamo=True, dynamic_shapes=BATCH, verbose=False
        )
    session = runtime.InferenceSession(program.model_proto.SerializeToString())
    (found,) = session.run(None, {session.get_inputs()[0].name: OTHERS.numpy()})
    np.testing.assert_allclose(found, network(OTHERS), rtol=1e-4, atol=1e-6)
