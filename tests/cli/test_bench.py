"""``immax bench`` through real processes."""

import csv
import json
import signal
import sqlite3
import time
from pathlib import Path

import pytest
from bench_cases import old_store
from commands import immax, immax_here, start_immax

SMOKE = Path(__file__).parents[2] / "experiments" / "smoke.toml"


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """The folder of a store that two runs have shared."""
    folder = tmp_path_factory.mktemp("smoke")
    pair = [start_immax("bench", "run", SMOKE, cwd=folder) for _ in range(2)]
    for process in pair:
        printed, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors
        assert printed.endswith(" done, 0 failed\n")
        assert errors == ""  # no bars in a pipe
    return folder


def test_the_same_command_again_does_nothing(smoke):
    before = (smoke / "smoke.db").stat().st_size
    plan = SMOKE
    assert json.loads(immax_here("bench", "run", plan, "--json", cwd=smoke, check=0).stdout)["done"]
    found = immax_here("bench", "run", plan, cwd=smoke, check=0)
    assert found.stdout == "0 waiting, 0 running, 36 done, 0 failed\n"
    assert (smoke / "smoke.db").stat().st_size == before


def test_status(smoke):
    found = immax_here("bench", "status", "smoke.db", "--json", cwd=smoke, check=0)
    content = json.loads(found.stdout)
    assert content["plan"] == "smoke"
    assert content["done"] == 36
    assert (
        "smoke: 0 waiting" in immax_here("bench", "status", "smoke.db", cwd=smoke, check=0).stdout
    )


def test_tables_and_exports(smoke):
    shown = immax_here("bench", "table", "smoke.db", cwd=smoke, check=0).stdout
    assert "made_up_images long_tailed 10" in shown
    assert "resnet8, balanced test, accuracy" in shown
    assert "immax minus" in shown
    content = json.loads(
        immax_here("bench", "table", "smoke.db", "--json", cwd=smoke, check=0).stdout
    )
    assert content[0]["header"][0] == "method"
    immax_here("bench", "export", "smoke.db", "-o", "all.csv", cwd=smoke, check=0)
    with (smoke / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["metric"] for row in rows} >= {"accuracy", "log_loss", "ece", "macro_f1"}
    assert len({row["cell"] for row in rows}) == 2 * 2 * 3 * 2
    for form, mark in (("latex", "\\toprule"), ("markdown", "| --- ")):
        immax_here("bench", "export", "smoke.db", "-o", "t", "--format", form, cwd=smoke, check=0)
        assert mark in (smoke / "t").read_text()


def test_a_page(smoke):
    (smoke / "words.md").write_text("Nothing was found.\n")
    call = ["bench", "page", "smoke.db", "-o", "page.md", "--words", "words.md"]
    immax_here(*call, "--command", "immax bench run smoke.toml", cwd=smoke, check=0)
    text = (smoke / "page.md").read_text()
    assert text.startswith("# All of the machinery")
    assert "    immax bench run smoke.toml" in text
    assert "36 of 36 cells" in text
    assert "Nothing was found." in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bench", "run", "none.toml"), "there is no plan"),
        (("bench", "run", "bad.toml"), "did you mean 'methods'?"),
        (("bench", "status", "none.db"), "there are no results"),
        (("bench", "status", "bad.toml"), "is not a results file"),
        (("bench", "table", "smoke.db", "--metric", "acuracy"), "did you mean 'accuracy'?"),
        (("bench", "run", "cifar.toml", "--data-dir", "."), "CIFAR-10"),
        (("bench", "run", "smoke.toml"), "another version of the plan"),
        (("bench", "run"), "Missing argument"),
    ],
)
def test_a_wrong_call_is_said_to_be_wrong(smoke, arguments, message):
    (smoke / "bad.toml").write_text("metods = []")
    plan = SMOKE.read_text()
    (smoke / "smoke.toml").write_text(plan.replace("runs = 2", "runs = 3"))
    cifar = plan.replace("made_up_images", "cifar10").replace('"smoke"', '"cifar"')
    (smoke / "cifar.toml").write_text(cifar)
    found = immax_here(*arguments, cwd=smoke, check=2)
    assert message in found.stderr
    assert "Traceback" not in found.stderr


def test_a_cell_that_fails_keeps_its_traceback_and_the_others_go_on(tmp_path):
    plan = SMOKE.read_text()
    plan = plan.replace('"linear", "resnet8", "surface"', '"linear"')
    plan = plan.replace("lams = [1e-2, 1e-1]", "lams = [-1]").replace(
        '"ce", "la", ', '"logistic", '
    )
    (tmp_path / "smoke.toml").write_text(plan)
    found = immax("bench", "run", "smoke.toml", cwd=tmp_path, check=1)
    assert "failed" in found.stderr
    shown = immax_here("bench", "status", "smoke.db", "--errors", cwd=tmp_path, check=0).stdout
    assert "Traceback" in shown
    assert "8 failed" in shown


def _done(path):
    from immax.bench.store import Store, StoreError

    try:
        return Store(path).counts()["done"]
    except (StoreError, sqlite3.OperationalError):
        return 0


def test_ctrl_c_keeps_what_is_done(tmp_path):
    plan = SMOKE
    process = start_immax("bench", "run", plan, cwd=tmp_path)
    while not _done(tmp_path / "smoke.db"):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    if process.returncode != 0:  # else it was done before
        assert process.returncode == 130
        assert "run the same command again to resume" in errors
    status = json.loads(
        immax_here("bench", "status", "smoke.db", "--json", cwd=tmp_path, check=0).stdout
    )
    assert status["running"] == 0
    assert status["done"] > 0


def test_two_runs_share_a_store(smoke):
    found = immax_here("bench", "status", "smoke.db", cwd=smoke, check=0).stdout
    assert "36 done, 0 failed" in found


def test_a_result_file_takes_the_place_of_a_store(smoke, tmp_path):
    name = "smoke.results.jsonl.xz"
    immax_here("bench", "export", smoke / "smoke.db", "-o", name, cwd=tmp_path, check=0)
    for command in (["status"], ["table", "--metric", "log_loss"]):
        shown = [
            immax_here("bench", command[0], path, *command[1:], cwd=tmp_path, check=0).stdout
            for path in (smoke / "smoke.db", name)
        ]
        assert shown[0] == shown[1]
    pages = []
    for source, out in ((smoke / "smoke.db", "store/page.md"), (name, "file/page.md")):
        immax_here("bench", "page", source, "-o", out, cwd=tmp_path, check=0)
        files = (tmp_path / out).parent.iterdir()
        pages.append({own.name: own.read_bytes() for own in files})
    assert pages[0] == pages[1]


def test_a_run_starts_from_a_result_file(smoke, tmp_path):
    name = "smoke.results.jsonl.xz"
    immax_here("bench", "export", smoke / "smoke.db", "-o", name, cwd=tmp_path, check=0)
    plan = SMOKE.read_text()
    plan = plan.replace('["linear", "resnet8", "surface"]', '["linear"]')
    (tmp_path / "smoke.toml").write_text(plan.replace('"la"', '"la", "rw"'))
    call = ["bench", "run", "smoke.toml", "--json", "--limit", "1", "--start-from", name]
    counts = json.loads(immax_here(*call, cwd=tmp_path, check=0).stdout)
    assert counts == {"waiting": 3, "running": 0, "done": 13, "failed": 0}
    (tmp_path / "smoke.db").unlink()
    redo = [*call, "--redo", "immax"]
    counts = json.loads(immax_here(*redo, cwd=tmp_path, check=0).stdout)
    assert counts["done"] == 9
    counts = json.loads(immax_here(*redo, cwd=tmp_path, check=0).stdout)
    assert counts["done"] == 10  # nothing was discarded
    wrong = immax_here(*call, "--redo", "imax", cwd=tmp_path, check=2).stderr
    assert "unknown method 'imax'; did you mean 'immax'?" in wrong


def test_a_method_is_run_again_without_the_rest(smoke, tmp_path):
    (tmp_path / "smoke.db").write_bytes((smoke / "smoke.db").read_bytes())
    plan = SMOKE
    call = ["bench", "run", plan, "--json", "--redo", "ce", "--limit", "1"]
    counts = json.loads(immax_here(*call, cwd=tmp_path, check=0).stdout)
    assert counts == {"waiting": 7, "running": 0, "done": 29, "failed": 0}


def test_damaged_result_files_are_refused(tmp_path):
    (tmp_path / "bad.results.jsonl.xz").write_bytes(b"nothing of the kind")
    for call in (["status"], ["page", "-o", "page.md"], ["table"]):
        name, *options = call
        found = immax_here("bench", name, "bad.results.jsonl.xz", *options, cwd=tmp_path, check=2)
        assert "is damaged, or not a result file" in found.stderr
    assert not (tmp_path / "page.md").exists()


def test_failed_cells_are_run_again_by_either_name(tmp_path):
    plan = SMOKE.read_text()
    plan = plan.replace('"linear", "resnet8", "surface"', '"linear"').replace('"ce", "la", ', "")
    (tmp_path / "smoke.toml").write_text(plan)
    immax_here("bench", "run", "smoke.toml", cwd=tmp_path, check=0)
    for option in ("--again", "--retry-failed"):
        with sqlite3.connect(tmp_path / "smoke.db") as db:
            db.execute("update cells set state = 'failed', error = 'Error: no' where place = 0")
        immax_here("bench", "run", "smoke.toml", cwd=tmp_path, check=1)
        found = immax_here("bench", "run", "smoke.toml", option, cwd=tmp_path, check=0)
        assert "4 done, 0 failed" in found.stdout


def test_stores_of_the_first_version_are_read(tmp_path):
    old_store(tmp_path / "old.db")
    found = immax_here("bench", "status", "old.db", cwd=tmp_path, check=0).stdout
    assert "two-scales: 2 waiting, 0 running, 48 done, 1 failed" in found


def test_version_and_help(tmp_path):
    from immax import __version__

    assert immax("--version", cwd=tmp_path, check=0).stdout == f"immax {__version__}\n"
    assert "bench" in immax_here("--help", cwd=tmp_path, check=0).stdout
