"""Model files: round trips, and files that are refused."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import sklearn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.fixes import parse_version

from immax import IMMAXSVC, IMMAXSVCCV, BaselineClassifier, IMMAXClassifier, IMMAXClassifierCV
from immax.decisions import Costs
from immax.io import ABOUT, ModelFileError, load_model, save_model
from immax.search import CountedFamily

skops = pytest.importorskip("skops.io")

X, y = make_classification(120, 6, n_informative=4, n_classes=3, random_state=0)

MODELS = [
    IMMAXClassifier(),
    IMMAXClassifier("hinge", lam=0.1),
    BaselineClassifier("la", method_params={"tau": 0.5}),
    IMMAXClassifierCV(n_margins=2, lams=[0.1], cv=2),
    IMMAXClassifierCV(family=CountedFamily("box", (9.0, 3.0, 1.0)), lams=[0.1], cv=2, n_margins=2),
    IMMAXClassifierCV(lams=[0.1], cv=2, aim="f1_macro"),
    IMMAXClassifierCV("hinge", lams=[0.1], cv=2, aim=Costs((1.0, 2.0, 5.0))),
    IMMAXSVCCV(Cs=[1.0], cv=2, n_margins=1, aim="mcc"),
    IMMAXSVC(),
    make_pipeline(StandardScaler(), IMMAXClassifier(margins={0: 1.0, 1: 2.0, 2: 1.0})),
    LogisticRegression(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_models_come_back_as_they_went(model, tmp_path):
    model.fit(X, y)
    save_model(model, tmp_path / "model.skops", target="kind", metric="accuracy")
    file = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(file.model.predict(X), model.predict(X))
    if hasattr(model, "best_rule_"):
        assert file.model.best_rule_ == model.best_rule_
        assert str(file.model.best_rule_) == str(model.best_rule_)
    assert (file.target, file.metric) == ("kind", "accuracy")
    assert file.about["classes"] == ["0", "1", "2"]
    assert file.about["versions"]["immax"]
    assert [path.name for path in tmp_path.iterdir()] == ["model.skops"]


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "model.skops"
    save_model(IMMAXClassifier().fit(X, y), path)
    return path.read_bytes()


def shout(X):
    return X


def test_types_that_would_not_be_loaded_are_not_saved(tmp_path):
    model = make_pipeline(FunctionTransformer(shout), IMMAXClassifier()).fit(X, y)
    with pytest.raises(ModelFileError, match="shout"):
        save_model(model, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


def test_a_foreign_type_is_refused_by_name(tmp_path):
    import skops.io

    model = make_pipeline(FunctionTransformer(shout), IMMAXClassifier()).fit(X, y)
    path = tmp_path / "model.skops"
    skops.io.dump(model, path)
    with pytest.raises(ModelFileError, match=f"no {ABOUT}"):
        load_model(path)
    from immax.io import _hashes

    about = {"format": 2, "target": "", "metric": "", "members": _hashes(path.read_bytes())}
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(ABOUT, json.dumps(about))
    with pytest.raises(ModelFileError, match=r"not trusted: .*shout"):
        load_model(path)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(good, share, tmp_path):
    path = tmp_path / "model.skops"
    path.write_bytes(good[: int(share * len(good))])
    with pytest.raises(ModelFileError, match="truncated"):
        load_model(path)


def test_an_altered_file_is_refused(good, tmp_path):
    path, other = tmp_path / "model.skops", tmp_path / "other.skops"
    path.write_bytes(good)
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(other, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "schema.json":
                content = content.replace(b"IMMAXClassifier", b"BaselineClassifier")
            target.writestr(name, content)
    with pytest.raises(ModelFileError, match="was altered"):
        load_model(other)
    about = json.loads(zipfile.ZipFile(path).read(ABOUT))
    for number, message in ((9, "has format 9"), (1, "was altered"), (True, "was altered")):
        altered = json.dumps({**about, "format": number})
        with zipfile.ZipFile(path) as source, zipfile.ZipFile(other, "w") as target:
            for name in source.namelist():
                target.writestr(name, altered if name == ABOUT else source.read(name))
        with pytest.raises(ModelFileError, match=message):
            load_model(other)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=400))
def test_arbitrary_bytes_are_refused(tmp_path, content):
    path = tmp_path / "model.skops"
    path.write_bytes(content)
    with pytest.raises(ModelFileError):
        load_model(path)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(place=st.floats(0, 1, exclude_max=True), value=st.integers(0, 255))
def test_a_flipped_byte_is_refused_or_harmless(good, tmp_path, place, value):
    data = bytearray(good)
    data[int(place * len(data))] = value
    path = tmp_path / "model.skops"
    path.write_bytes(bytes(data))
    try:
        file = load_model(path)
    except ModelFileError:
        return
    expected = IMMAXClassifier().fit(X, y).predict(X)
    np.testing.assert_array_equal(file.model.predict(X), expected)


def test_a_file_of_the_first_release_still_loads():
    pandas = pytest.importorskip("pandas")
    path = Path(__file__).parent / "data" / "model-1.skops"
    with zipfile.ZipFile(path) as archive:
        written_by = json.loads(archive.read(ABOUT))["versions"]["scikit-learn"]
    if parse_version(sklearn.__version__) < parse_version(written_by):
        pytest.skip(f"scikit-learn does not load models of a later version ({written_by})")
    file = load_model(path)
    new = pandas.DataFrame(
        {
            "weight": [-2.0, 0.0, 4.0],
            "cost": [10.0, None, 300.0],
            "from": ["depot 1", "nowhere", "depot 7"],
            "note": ["none", None, 'a "gift"'],
            "firm": ["north"] * 3,
        }
    )
    assert file.schema.check(new) == []
    assert file.target == "state"
    assert file.model.predict(new).tolist() == ["on time", "on time", "late"]
    np.testing.assert_allclose(
        file.model.predict_proba(new),
        [
            [0.028197, 0.007819, 0.963984],
            [0.124525, 0.010868, 0.864607],
            [0.829801, 0.005548, 0.16465],
        ],
        atol=1e-5,
    )


def test_model_files_do_not_import_pytorch_and_dask():
    pytest.importorskip("torch")
    code = "import sys; from immax.io import require_skops; require_skops(); print(*sys.modules)"
    call = [sys.executable, "-c", code]
    loaded = set(subprocess.check_output(call, text=True).split())
    assert "skops.io" in loaded
    assert not {"torch", "dask", "sklearn.externals.array_api_compat.torch"} & loaded


def test_files_with_classes_that_have_moved_since_predict_as_they_did():
    folder = Path(__file__).parent / "data" / "format-3"
    for name, expected in json.loads((folder / "expected.json").read_text("utf-8")).items():
        with zipfile.ZipFile(folder / f"{name}.skops") as archive:
            written_by = json.loads(archive.read(ABOUT))["versions"]["scikit-learn"]
        if parse_version(sklearn.__version__) < parse_version(written_by):
            pytest.skip(f"scikit-learn does not load models of a later version ({written_by})")
        model = load_model(folder / f"{name}.skops").model
        assert type(model).__module__ == "immax.decisions.decided_model"
        new = np.array(expected["X"])
        assert model.predict(new).tolist() == expected["predict"]
        np.testing.assert_allclose(model.predict_proba(new), expected["proba"], atol=1e-8)


EARLIER = Path(__file__).parent / "data" / "format-1"
EXPECTED = json.loads((EARLIER / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", EXPECTED)
def test_files_of_format_1_predict_as_they_did(name):
    """Margins that summed to one, and modules that have been renamed since."""
    if name.startswith("xgboost"):
        pytest.importorskip("xgboost")
    with zipfile.ZipFile(EARLIER / f"{name}.skops") as archive:
        written_by = json.loads(archive.read(ABOUT))["versions"]["scikit-learn"]
    if parse_version(sklearn.__version__) < parse_version(written_by):
        pytest.skip(f"scikit-learn does not load models of a later version ({written_by})")
    expected = EXPECTED[name]
    file = load_model(EARLIER / f"{name}.skops")
    assert file.about["format"] == 1
    new = np.array(expected["X"])
    assert file.model.predict(new).tolist() == expected["predict"]
    assert len(set(expected["predict"])) > 1
    assert hasattr(file.model, "predict_proba") == ("proba" in expected)
    if "proba" in expected:
        np.testing.assert_allclose(file.model.predict_proba(new), expected["proba"], atol=1e-6)
    if "scores" in expected:
        np.testing.assert_allclose(file.model.decision_function(new), expected["scores"], atol=1e-6)


def test_a_file_of_format_1_is_format_3_once_it_is_saved_again(tmp_path):
    model = load_model(EARLIER / "svc-2.skops").model
    save_model(model, tmp_path / "model.skops")
    file = load_model(tmp_path / "model.skops")
    assert file.about["format"] == 3
    new = np.array(EXPECTED["svc-2"]["X"])
    np.testing.assert_array_equal(file.model.predict(new), EXPECTED["svc-2"]["predict"])


def test_a_file_of_format_2_predicts_as_it_did(tmp_path):
    """A table with dates of many formats and words for missing values, as pandas read them."""
    from commands import immax_here

    pandas = pytest.importorskip("pandas")
    folder = Path(__file__).parent / "data" / "format-2"
    with zipfile.ZipFile(folder / "patients.skops") as archive:
        written_by = json.loads(archive.read(ABOUT))["versions"]["scikit-learn"]
    if parse_version(sklearn.__version__) < parse_version(written_by):
        pytest.skip(f"scikit-learn does not load models of a later version ({written_by})")
    out = tmp_path / "proba.csv"
    immax_here("predict", "patients.skops", "new.csv", "--proba", "-o", out, cwd=folder, check=0)
    expected = pandas.read_csv(folder / "proba.csv")
    pandas.testing.assert_frame_equal(pandas.read_csv(out), expected, rtol=1e-9)
    file = load_model(folder / "patients.skops")
    assert file.about["format"] == 2
    assert file.schema.labels.kind == "category"


def edited(good, path, **changes):
    """Write a model file with another description."""
    path.write_bytes(good)
    with zipfile.ZipFile(path) as source:
        members = {name: source.read(name) for name in source.namelist()}
    about = {**json.loads(members[ABOUT]), **changes}
    members[ABOUT] = json.dumps(about).encode()
    with zipfile.ZipFile(path, "w") as target:
        for name, content in members.items():
            target.writestr(name, content)


@pytest.mark.parametrize(
    "change", [{"target": "x"}, {"metric": "f1"}, {"schema": []}, {"hash": ""}, {"more": 1}]
)
def test_the_description_of_a_model_is_part_of_the_hashes(good, tmp_path, change):
    edited(good, tmp_path / "model.skops")
    load_model(tmp_path / "model.skops")
    edited(good, tmp_path / "model.skops", **change)
    with pytest.raises(ModelFileError, match="was altered"):
        load_model(tmp_path / "model.skops")


def test_what_is_not_a_classifier_is_refused(tmp_path):
    save_model({"a": 1}, tmp_path / "model.skops")
    with pytest.raises(ModelFileError, match="holds a dict, which is not a classifier"):
        load_model(tmp_path / "model.skops")


def test_sizes_are_checked_before_anything_is_read(good, tmp_path):
    path = tmp_path / "model.skops"
    path.write_bytes(good)
    for limit in (100, len(good) + 10):  # of the file, and of what it unpacks to
        with pytest.raises(ModelFileError, match="max_bytes of load_model"):
            load_model(path, max_bytes=limit)
    with pytest.raises(ModelFileError, match="is a folder"):
        load_model(tmp_path)
