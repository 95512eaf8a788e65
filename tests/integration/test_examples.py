"""Every example runs in a process of its own and prints what it should."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NEEDS = {
    "boosting_calibration": ["xgboost", "matplotlib"],
    "kernel_large": [],
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
ARGUMENTS = {"kernel_large": ["--samples", "2000"]}
LAUNCHERS = {"torch_distributed": ["-m", "torch.distributed.run", "--nproc-per-node", "2"]}
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


def test_all_examples_are_listed():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {"longtailed_digits", *NEEDS}


@pytest.mark.parametrize("name", NEEDS)
def test_an_example_runs(name, tmp_path):
    for package in NEEDS[name]:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    launcher = [sys.executable, *LAUNCHERS.get(name, [])]
    command = [*launcher, str(EXAMPLES / f"{name}.py"), *ARGUMENTS.get(name, [])]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert PRINTS[name] in done.stdout
