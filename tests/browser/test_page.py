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
    assert len(found["texts"]) == 5
    assert all(len(text) > 40 for text in found["texts"])
    assert found["words"] == found["texts"]
    assert found["tooltips"] > 30
    assert found["shown"]["hidden"] is False
    assert "gain" in found["shown"]["text"]
    assert found["after"] is True


@pytest.mark.parametrize("width", [400, 1200])
def test_nothing_hangs_over_the_edge(page, width):
    found, _ = browse(
        page,
        "return [document.documentElement.scrollWidth, innerWidth];",
        f"--window-size={width},900",
    )
    assert found[0] <= found[1]
