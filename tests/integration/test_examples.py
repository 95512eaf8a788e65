"""Every example runs and prints what it should.

They run within this process, on fewer samples or settings where the full ones take long. Libraries
are then imported once for all of them.
"""

import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from process_groups import run_two_processes

EXAMPLES = Path(__file__).parents[2] / "examples"
NEEDS = {
    "boosting_calibration": ["xgboost", "matplotlib"],
    "kernel_large": [],
    "longtailed_digits": [],
    "separable_figure": ["matplotlib"],
    "torch_plain": ["torch"],
    "torch_segmentation": ["torch"],
    "torch_lightning": ["torch", "lightning"],
    "torch_optuna": ["torch", "optuna"],
    "torch_distributed": ["torch"],
    "torch_skorch": ["torch", "skorch"],
    "torch_huggingface": ["torch", "transformers", "accelerate"],
    "torch_refit_head": ["torch", "pandas", "safetensors"],
    "torch_compare_heads": ["torch", "safetensors"],
}
ARGUMENTS = {"kernel_large": ["--samples", "1000"]}
SMALLER = {
    "boosting_calibration": {"COUNTS": [600, 200, 100]},
    "separable_figure": {"DRAWS": 5},
    "torch_refit_head": {"EPOCHS": 5},
}
PRINTS = {
    "boosting_calibration": "XGBoost with class weights",
    "kernel_large": "random Fourier features",
    "separable_figure": "saved to separable.png",
    "torch_plain": "IMMAX",
    "torch_segmentation": "recall by class",
    "torch_lightning": "accuracy on the training data",
    "torch_optuna": "best power",
    "torch_distributed": "2 processes",
    "torch_skorch": "probabilities sum to 1.0000 to 1.0000",
    "torch_huggingface": "probabilities sum to 1.0000 to 1.0000",
    "torch_refit_head": "with a refitted head",
    "torch_compare_heads": "| head: IMMAX, searched margins |",
}
IN_PROCESSES_OF_THEIR_OWN = ["torch_distributed"]


@pytest.fixture
def example(request, monkeypatch, tmp_path):
    """Return the module of an example, ready to run in an empty folder."""
    name = request.param
    for package in NEEDS[name]:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *ARGUMENTS.get(name, [])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of other libraries
        module = import_module(name)
        for constant, value in SMALLER.get(name, {}).items():
            monkeypatch.setattr(module, constant, value)
        yield module


def test_all_examples_are_listed():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(NEEDS)


@pytest.mark.parametrize(
    "example",
    [name for name in PRINTS if name not in IN_PROCESSES_OF_THEIR_OWN],
    indirect=True,
)
def test_an_example_runs(example, capsys):
    example.main()
    assert PRINTS[example.__name__] in capsys.readouterr().out


@pytest.mark.parametrize("name", IN_PROCESSES_OF_THEIR_OWN)
def test_an_example_of_several_processes(name, tmp_path):
    pytest.importorskip("torch")
    assert PRINTS[name] in run_two_processes(EXAMPLES / f"{name}.py", cwd=tmp_path)


@pytest.mark.parametrize("example", ["longtailed_digits"], indirect=True)
def test_the_digits_print_their_table(example, monkeypatch, capsys):
    monkeypatch.setitem(example.CS, "C", [0.1])
    monkeypatch.setitem(example.LAMS, "lam", [1e-2])
    monkeypatch.setattr(example, "FOLDS", 2)
    example.main()
    table = capsys.readouterr().out
    assert "accuracy  balanced  log-loss  seconds  recall" in table
    rows = [line for line in table.splitlines() if line[26:35].strip().startswith("0.")]
    assert len(rows) == len(example.MODELS)
    accuracy = {row[:26].strip(): float(row[26:35]) for row in rows}
    assert accuracy["IMMAX logistic"] > 0.9
