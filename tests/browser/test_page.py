"""The page of a comparison in a real browser: Debian's Chromium, without a screen."""

import html
import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from immax.compare import Protocol, answer, compare, refit
from immax.decisions import Costs, rule_of
from immax.report import About, write_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = rng.choice(["common", "rare", "<b>odd</b>"], 300, p=[0.7, 0.2, 0.1])
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c & d"])
    X["a"] += y == "rare"
    comparison = compare(X, pd.Series(y), methods=["weights", "immax"], protocol=Protocol(folds=3))
    verdict = answer(comparison)
    models = {name: refit(comparison, name) for name in {verdict.recommended, "immax"}}
    path = tmp_path_factory.mktemp("page") / "report.html"
    about = About("<script>alert(1)</script>.csv", "kind", "immax compare", 1.0, ("A notice.",))
    write_report(path, comparison, verdict, models, about)
    return path


def browse(page, script="", *options):
    """Return what a script gives in the page, and the messages on the browser's console."""
    probe = f"""<script>
      const result = (() => {{ {script} }})();
      const note = document.createElement("pre");
      note.id = "result"; note.textContent = JSON.stringify(result ?? null);
      document.body.append(note);
    </script>"""
    copy = page.with_name("copy.html")
    copy.write_text(page.read_text().replace("</body>", f"{probe}</body>"))
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         "--virtual-time-budget=4000", *options, "--dump-dom", copy.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    result = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.DOTALL)
    assert result, done.stderr[-2000:]
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(result[1])), console


def test_it_opens_with_nothing_on_the_console_and_nothing_from_outside(page):
    names, console = browse(
        page, "return performance.getEntriesByType('resource').map((one) => one.name);"
    )
    assert console == []
    assert [name for name in names if not name.startswith("data:")] == []


def test_names_from_the_data_are_text(page):
    title, _ = browse(page, "return document.querySelector('h1').textContent;")
    assert title == "kind of <script>alert(1)</script>.csv"
    rows, _ = browse(page, "return document.querySelector('#data tbody').textContent;")
    assert "<b>odd</b>" in rows


def test_tables_sort_both_ways(page):
    script = """
      const table = document.getElementById("methods");
      const heads = [...table.tHead.rows[0].cells];
      const place = heads.findIndex((cell) => cell.textContent.startsWith("log loss"));
      const values = () => [...table.tBodies[0].rows].map((row) => row.cells[place].textContent);
      const heading = heads[place];
      heading.click(); const up = values(), first = heading.getAttribute("aria-sort");
      heading.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
      return {up, down: values(), first, second: heading.getAttribute("aria-sort")};
    """
    found, console = browse(page, script)
    assert console == []
    assert found["up"] == sorted(found["up"], key=float)
    assert found["down"] == found["up"][::-1]
    assert (found["first"], found["second"]) == ("ascending", "descending")


def test_the_theme_follows_the_system_and_the_button(page):
    script = """
      const paper = () => getComputedStyle(document.body).backgroundColor;
      const button = document.getElementById("theme");
      const seen = [paper()];
      button.click(); seen.push(paper());
      button.click(); seen.push(paper());
      const text = document.querySelector("svg.figure text");
      return {seen, ink: getComputedStyle(text).fill, body: getComputedStyle(document.body).color};
    """
    light, _ = browse(page, script)
    assert light["seen"] == ["rgb(255, 255, 255)", "rgb(20, 24, 30)", "rgb(255, 255, 255)"]
    assert light["ink"] == light["body"]
    dark, _ = browse(page, script, "--blink-settings=preferredColorScheme=0")
    assert dark["seen"] == ["rgb(20, 24, 30)", "rgb(255, 255, 255)", "rgb(20, 24, 30)"]


def test_every_figure_has_a_text_and_says_values_when_pointed_at(page):
    script = """
      const figures = [...document.querySelectorAll("svg.figure")];
      const part = document.querySelector("svg .has-tooltip");
      part.dispatchEvent(new PointerEvent("pointermove", {clientX: 5, clientY: 5}));
      const tooltip = document.getElementById("tooltip");
      const shown = {hidden: tooltip.hidden, text: tooltip.textContent};
      part.dispatchEvent(new PointerEvent("pointerleave"));
      return {texts: figures.map((one) => one.getAttribute("aria-label")),
              words: [...document.querySelectorAll("figcaption p")].map((one) => one.textContent),
              tooltips: document.querySelectorAll("svg .has-tooltip").length,
              shown, after: tooltip.hidden};
    """
    found, _ = browse(page, script)
    assert len(found["texts"]) == 7
    assert all(len(text) > 40 for text in found["texts"])
    assert found["words"] == found["texts"]
    assert found["tooltips"] > 30
    assert found["shown"]["hidden"] is False
    assert "gain" in found["shown"]["text"]
    assert found["after"] is True


@pytest.fixture(scope="module")
def costs_page(tmp_path_factory):
    """Two classes and costs, of which the slider starts at the rule."""
    rng = np.random.default_rng(0)
    rare = rng.random(240) < 0.2
    X = pd.DataFrame({"a": rng.normal(size=240) + 1.5 * rare})
    y = pd.Series(np.where(rare, "<i>fraud</i>", "ok"))
    protocol = Protocol(folds=3, aim=Costs({"<i>fraud</i>": 10, "ok": 1}))
    comparison = compare(X, y, methods=["weights", "immax"], protocol=protocol)
    verdict = answer(comparison)
    models = {name: refit(comparison, name) for name in {verdict.recommended, "immax"}}
    path = tmp_path_factory.mktemp("costs") / "report.html"
    write_report(path, comparison, verdict, models, About("a.csv", "y", "immax compare", 1.0))
    pooled = comparison.pooled(verdict.recommended, for_decisions=True)
    return path, pooled, rule_of(models[verdict.recommended][-1])


SLIDER = """
  const position = document.getElementById("position");
  const words = () => document.getElementById("slider-words").textContent;
  const counts = () => [...document.querySelectorAll("#slider-table tbody td")]
    .map((cell) => Number(cell.textContent.replace(/,/g, "")));
  const shown = () => ({value: document.getElementById("position-value").textContent,
                        counts: counts(), words: words()});
  const move = (value) => { position.value = value; position.dispatchEvent(new Event("input")); };
"""


@pytest.mark.parametrize(
    ("width", "look"), [(400, ["--blink-settings=preferredColorScheme=0"]), (1200, [])]
)
def test_the_slider_moves_the_threshold_and_updates_matrix_and_costs(costs_page, width, look):
    path, pooled, rule = costs_page
    script = (
        SLIDER
        + """
      const start = shown();
      move(0); const all = shown();
      move(position.max); const none = shown();
      document.getElementById("position-reset").click(); const back = shown();
      const cost = document.querySelector("[data-cost='0']");
      cost.value = 100; cost.dispatchEvent(new Event("input")); const dear = shown();
      return {start, all, none, back, dear, width: document.documentElement.scrollWidth,
              window: innerWidth};
    """
    )
    found, console = browse(path, script, f"--window-size={width},900", *look)
    assert console == []
    assert found["width"] <= found["window"]
    y, p = pooled.y, pooled.proba[:, 0]

    def table(threshold):
        return [int(((y == k) & ((p >= threshold) == fraud)).sum())
                for k in (0, 1) for fraud in (True, False)]  # fmt: skip

    assert float(found["start"]["value"]) == pytest.approx(rule.threshold, rel=0.01)
    assert found["start"]["counts"] == table(rule.threshold)
    assert found["back"] == found["start"]
    assert found["all"]["counts"] == [sum(y == 0), 0, sum(y == 1), 0]
    assert found["none"]["counts"][2:] == [0, sum(y == 1)]
    missed, alarms = found["start"]["counts"][1:3]
    assert f"Cost {(10 * missed + alarms) / len(y):.4g}"[:9] in found["start"]["words"]
    assert f"{100 * missed + alarms:,} in all" in found["dear"]["words"]
    assert "predicted to be <i>fraud</i>" in found["start"]["words"]


def test_margins_and_class_weights_of_an_aim_are_shown(costs_page):
    script = """
      const part = document.getElementById("margins");
      return {words: part.querySelector("p").textContent.replace(/\\s+/g, " "),
              figures: part.querySelectorAll("svg.figure").length,
              shares: document.querySelectorAll("#shares tbody tr").length};
    """
    found, console = browse(costs_page[0], script)
    assert console == []
    assert re.search(r"power -?\d\.\d+ of margins, the power \d\.\d+ of weights", found["words"])
    assert "predict <i>fraud</i> when its probability is more than 0.09" in found["words"]
    assert (found["figures"], found["shares"]) == (2, 3)


def test_the_slider_of_many_classes_moves_the_weight_of_the_rarest(page):
    script = (
        SLIDER
        + """
      const start = shown(); move(0); const few = shown(); move(position.max);
      const rows = document.querySelectorAll("#shares tbody tr").length;
      return {start, few, many: shown(), rows};
    """
    )
    found, console = browse(page, script)
    assert console == []
    assert found["start"]["value"].startswith("1.00")
    predicted = [
        int(found[key]["words"].split(" of ")[0].replace(",", ""))
        for key in ("few", "start", "many")
    ]
    assert predicted == sorted(predicted)
    assert predicted[0] < predicted[2]
    assert found["rows"] >= 3


@pytest.mark.parametrize("width", [400, 1200])
def test_nothing_hangs_over_the_edge(page, width):
    found, _ = browse(
        page,
        "return [document.documentElement.scrollWidth, innerWidth];",
        f"--window-size={width},900",
    )
    assert found[0] <= found[1]
