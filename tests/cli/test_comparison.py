"""``immax compare`` as a new user meets it, through real processes."""

import json
import signal
import time

import numpy as np
import pandas as pd
import pytest
from commands import immax, immax_here, start_immax

from immax.cli.comparison import parse_duration
from immax.decisions import rule_of
from immax.errors import WrongCall
from immax.io import load_model

QUICK = ("--methods", "weights,immax", "--folds", "3")


def awkward(n=180, seed=0):
    """As tables come: line breaks in cells, gaps, a constant, 300 categories, a rare class."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.2, "late", "on time")
    y[:4] = "lost"
    frame = pd.DataFrame(
        {
            "weight": rng.normal(size=n) + (y == "late"),
            "cost": rng.normal(size=n) * 100,
            "from": [f"depot {i % 300}" for i in rng.integers(0, 300, n)],
            "note": rng.choice(["glass;\nfragile", 'a "gift"', "none"], n),
            "firm": "north",
            "state": y,
        }
    )
    frame.loc[::7, "cost"] = np.nan
    frame.loc[::11, "note"] = None
    return frame


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    text = awkward().to_csv(index=False, sep=";")
    (folder / "parcels.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    outcome = immax("compare", "parcels.csv", "--target", "state", *QUICK, cwd=folder, check=0)
    return folder, outcome


def test_an_awkward_table_gets_a_recommendation_a_page_and_a_model(compared):
    folder, outcome = compared
    assert "left out 'firm': one value in all rows" in outcome.stderr
    assert "Use " in outcome.stdout
    assert "IMMAX logistic" in outcome.stdout
    out = folder / "comparison"
    page = (out / "report.html").read_text()
    assert "<svg" in page
    assert len(page) < 5_000_000
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "https://" not in page
    content = json.loads((out / "results.json").read_text())
    assert content["data"]["classes"]["lost"] == 4
    assert {row["name"] for row in content["rows"]} == {"logistic", "weights", "immax"}
    assert content["recommended"] in {row["name"] for row in content["rows"]}
    assert load_model(out / "model.skops").target == "state"
    assert not list(out.glob("*.part"))


def test_the_model_predicts_for_new_rows(compared):
    folder, _ = compared
    awkward(30, seed=9).drop(columns="state").to_json(
        folder / "new.jsonl", orient="records", lines=True
    )
    outcome = immax_here(
        "predict", "comparison/model.skops", "new.jsonl", "--proba", cwd=folder, check=0
    )
    lines = outcome.stdout.splitlines()
    assert lines[0] == "p(late),p(lost),p(on time)"
    assert len(lines) == 31


def test_the_same_command_again_fits_no_fold_twice(compared):
    folder, outcome = compared
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.npz")}
    again = immax_here(
        "compare", "parcels.csv", "--target", "state", *QUICK, "--json", cwd=folder, check=0
    )
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.npz")} == before
    assert json.loads(again.stdout)["sentence"] in outcome.stdout


def test_an_interrupted_comparison_is_resumed(tmp_path):
    awkward().to_csv(tmp_path / "parcels.csv", index=False)
    command = ["compare", "parcels.csv", "-t", "state", *QUICK]
    process = start_immax(*command, cwd=tmp_path)
    end = time.monotonic() + 120
    while not list(tmp_path.rglob("*.npz")) and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "run the same command again to resume" in errors
    kept = set(tmp_path.rglob("*.npz"))
    assert 0 < len(kept) < 9
    times = {path: path.stat().st_mtime_ns for path in kept}
    immax_here(*command, cwd=tmp_path, check=0)
    assert all(path.stat().st_mtime_ns == times[path] for path in kept)
    assert len(list(tmp_path.rglob("*.npz"))) == 9


@pytest.mark.parametrize(
    ("name", "content", "arguments", "message"),
    [
        ("empty.csv", "", ("-t", "y"), "is empty"),
        ("head.csv", "a,y\n", ("-t", "y"), "has no rows"),
        ("near.csv", "a,label\n1,x\n2,y\n", ("-t", "lable"), "did you mean 'label'"),
        ("none.csv", "a,y\n1,x\n2,z\n", (), "--target"),
        ("one.csv", "a,y\n1,x\n2,x\n3,x\n", ("-t", "y"), "only one class, 'x'"),
        (
            "many.csv",
            "a,y\n" + "".join(f"{i % 3},{i}\n" for i in range(1000)),
            ("-t", "y"),
            "1000 different values",
        ),
        ("gaps.csv", "a,y\n1,x\n2,\n3,z\n", ("-t", "y"), "1 missing labels"),
        ("rare.csv", "a,y\n1,x\n2,x\n3,x\n4,z\n", ("-t", "y"), "'z' has fewer"),
        (
            "useless.csv",
            "a,y\n" + "1,x\n" * 5 + "1,z\n" * 5,
            ("-t", "y"),
            "no column can be used",
        ),
        ("good.csv", "a,y\n" + "1,x\n2,z\n" * 3, ("-t", "y", "--metric", "acuracy"), "'accuracy'"),
        (
            "good.csv",
            "a,y\n" + "1,x\n2,z\n" * 3,
            ("-t", "y", "--metric", "f1", "--costs", "x=1,z=2"),
            "--metric and --costs contradict each other",
        ),
        ("good.csv", "a,y\n" + "1,x\n2,z\n" * 3, ("-t", "y", "--costs", "x=1"), "missing: 'z'"),
        ("good.csv", "a,y\n" + "1,x\n2,z\n" * 3, ("-t", "y", "--methods", "imax"), "'immax'"),
        ("good.csv", "a,y\n1,x\n2,z\n", ("-t", "y", "--time-limit", "soon"), "90s, 10m or 1h"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_line(tmp_path, name, content, arguments, message):
    (tmp_path / name).write_text(content)
    outcome = immax_here("compare", name, *arguments, "-o", "out", cwd=tmp_path)
    assert outcome.returncode in (1, 2), outcome.stdout
    assert message in outcome.stderr
    assert "unexpected" not in outcome.stderr
    assert not (tmp_path / "out" / "report.html").exists()


def test_a_large_table_is_sampled_with_a_notice(tmp_path):
    rng = np.random.default_rng(0)
    y = (rng.random(3000) < 0.1).astype(int)
    pd.DataFrame({"a": rng.normal(size=3000) + y, "y": y}).to_parquet(tmp_path / "big.parquet")
    outcome = immax_here(
        "compare", "big.parquet", "-t", "y", "--rows", 500, "--methods", "weights", "--json",
        cwd=tmp_path, check=0,
    )  # fmt: skip
    assert "a sample of 500 is used" in outcome.stderr
    content = json.loads(outcome.stdout)
    assert content["data"]["rows"] == 500
    assert content["data"]["classes"].keys() == {"0", "1"}


@pytest.fixture(scope="module")
def aimed(tmp_path_factory):
    """Two classes, costs, and several processes."""
    folder = tmp_path_factory.mktemp("aimed")
    rng = np.random.default_rng(0)
    y = rng.random(240) < 0.15
    frame = pd.DataFrame({"a": rng.normal(size=240) + 1.5 * y, "b": rng.normal(size=240)})
    frame.assign(y=np.where(y, "fraud", "ok")).to_csv(folder / "data.csv", index=False)
    outcome = immax_here(
        "compare", "data.csv", "-t", "y", "--costs", "fraud=10,ok=1", "--methods",
        "weights,svm,xgb", "--folds", 3, "--prefer", "best", "--json", cwd=folder, check=0,
    )  # fmt: skip
    return folder, json.loads(outcome.stdout)


def test_costs_are_what_methods_are_ranked_and_decide_by(aimed):
    folder, content = aimed
    assert content["metric"] == "costs"
    values = [row["measures"]["costs"] for row in content["rows"]]
    assert values == sorted(values)
    assert content["recommended"] == content["rows"][0]["name"]
    assert content["rule"].startswith("predict fraud when its probability is more than 0.")
    assert content["rule"] in content["sentence"]
    assert "cost per row" in content["sentence"]
    page = (folder / "comparison" / "report.html").read_text()
    assert content["rule"][1:] in page
    assert 'id="slider"' in page


def test_the_model_file_has_the_rule_and_predicts_by_it(aimed):
    folder, content = aimed
    model = load_model(folder / "comparison" / "model.skops")
    assert model.metric == "costs"
    assert str(rule_of(model.model[-1])) == content["rule"]
    for options in ((), ("--proba",)):
        name = f"predicted{len(options)}.csv"
        immax_here(
            "predict", "comparison/model.skops", "data.csv", "-o", name, *options,
            cwd=folder, check=0,
        )  # fmt: skip
    labels = pd.read_csv(folder / "predicted0.csv")["y"]
    fraud = pd.read_csv(folder / "predicted1.csv")["p(fraud)"]
    threshold = rule_of(model.model[-1]).threshold
    np.testing.assert_array_equal(labels == "fraud", fraud >= threshold)


def test_a_target_without_a_file_is_a_wrong_call(tmp_path):
    outcome = immax_here("compare", "--target", "y", cwd=tmp_path)
    assert outcome.returncode == 2
    assert "which file" in outcome.stderr
    assert not (tmp_path / "comparison").exists()


def test_a_time_limit_that_is_too_short_is_said_in_a_line(tmp_path):
    awkward().to_csv(tmp_path / "parcels.csv", index=False)
    outcome = immax_here(
        "compare", "parcels.csv", "-t", "state", *QUICK, "--time-limit", "0s", cwd=tmp_path
    )
    assert outcome.returncode == 1
    assert "not even plain logistic regression" in outcome.stderr


def test_durations():
    assert parse_duration(None) is None
    assert [parse_duration(text) for text in ("90", "90s", "1.5 m", "2h")] == [90, 90, 90, 7200]
    for text in ("", "soon", "-1s", "1d"):
        with pytest.raises(WrongCall, match="90s, 10m or 1h"):
            parse_duration(text)
