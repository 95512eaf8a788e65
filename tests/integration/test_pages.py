"""Pages that show what their code prints: the code runs, and prints it."""

import contextlib
import io
import re
from importlib.util import find_spec

import pytest
from source_tree import ROOT

SHOWN = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?")
PAGES = [
    path
    for folder in ("docs", "docs/coming-from")
    for path in sorted((ROOT / folder).glob("*.md"))
    if SHOWN.search(path.read_text(encoding="utf-8"))
]
NEEDS = {
    "cross-entropy": "torch",
    "focal-and-ldam": "torch",
    "integrations": "sklearn.callback",
    "smote": "imblearn",
    "scale-pos-weight": "xgboost",
}


def words(text):
    """Return a text without its numbers, and the numbers."""
    return NUMBER.sub("#", text), [float(one) for one in NUMBER.findall(text)]


def test_pages_are_found():
    names = {path.stem for path in PAGES}
    assert {"class-weight", "smote", "logistic-regression", "svc", *NEEDS} <= names


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_prints_what_it_shows(page):
    library = NEEDS.get(page.stem)
    if library and find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    for code, shown in SHOWN.findall(page.read_text(encoding="utf-8")):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(page), "exec"), {"__name__": "page"})
        text, numbers = words(printed.getvalue())
        expected_text, expected = words(shown)
        assert text == expected_text
        assert numbers == pytest.approx(expected, abs=0.02)  # other versions of the libraries


def test_words_and_numbers():
    assert words("F1 0.712, 3e-06 of 10") == ("F1 #, # of #", [0.712, 3e-06, 10.0])


@pytest.mark.parametrize(
    ("section", "example", "parameters"),
    [
        ("skorch", "torch_skorch", ["predict_nonlinearity"]),
        (
            "Hugging Face",
            "torch_huggingface",
            ["compute_loss_func", "preprocess_logits_for_metrics"],
        ),
    ],
)
def test_recipes_of_networks_are_those_of_the_examples(section, example, parameters):
    page = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
    recipe = page.split(f"\n## {section}\n")[1].split("\n## ")[0]
    code = (ROOT / "examples" / f"{example}.py").read_text(encoding="utf-8")
    for name in parameters:
        assert f"{name}=" in code
        assert name in recipe
    assert "verrid" not in recipe  # no method is overridden
