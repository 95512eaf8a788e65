"""The documentation site: built without warnings, complete, its links whole, in a browser."""

import functools
import html
import http.server
import json
import re
import shutil
import subprocess
import threading
import zlib
from urllib.parse import quote, unquote, urldefrag

import pytest
from site_build import Page, build_site
from source_tree import ROOT, exported_names, module_paths, tree_of

pytest.importorskip("sphinx", reason="needs the extra docs")
pytest.importorskip("sphinx_gallery", reason="needs the extra docs")
pytest.importorskip("torch", reason="the reference imports every module")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
DARK = "--blink-settings=preferredColorScheme=0"
SHOWN = [
    "index.html",
    "guide.html",
    "user-guide.html",
    "compare.html",
    "theory.html",
    "torch.html",
    "benchmarks.html",
    "benchmarks/kernels.html",
    "benchmarks/comparisons.html",
    "coming-from/class-weight.html",
    "gallery/index.html",
    "gallery/theory/plot_comparison.html",
    "reference/generated/immax.IMMAXClassifierCV.html",
    "results/aims.html",
]
NARROW, WIDE = 400, 1200
FAULTY = """<!doctype html><body><p style="width: 2000px">wider than any window</p>
<script>console.error("an error")</script></body>"""
# Shows pages one after the other in frames of a given width, and notes how wide each of them is.
FRAMES = """<!doctype html><body><pre id="result"></pre><script>
  (async () => {
    const { pages, widths } = JSON.parse(decodeURIComponent(location.search.slice(1)));
    const found = [];
    for (const width of widths) for (const page of pages) {
      const frame = document.createElement("iframe");
      Object.assign(frame, { width, height: 900 });
      frame.style.border = 0;
      await new Promise((loaded) => {
        frame.onload = loaded;
        frame.src = "/" + page;
        document.body.append(frame);
      });
      await new Promise((settled) => setTimeout(settled, 50));
      const root = frame.contentDocument.documentElement;
      found.push({
        page, inner: frame.contentWindow.innerWidth, scroll: root.scrollWidth,
        theme: root.dataset.theme,
      });
      frame.remove();
    }
    document.getElementById("result").textContent = JSON.stringify(found);
  })();
</script></body>"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def pages(built):
    return {path: Page(path) for path in sorted(built[0].rglob("*.html"))}


@pytest.fixture(scope="module")
def address(built):
    """Serve the site, as its search fetches pages."""
    handler = functools.partial(Quiet, directory=str(built[0]))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that prints nothing."""

    def log_message(self, *arguments):
        """Print nothing."""

    def do_GET(self):
        """Send a file of the site, or a page of these tests."""
        own = {"/frames": FRAMES, "/faulty": FAULTY}.get(self.path.partition("?")[0])
        if own is None:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(own.encode())


def browse(address, *options):
    """Return the elements of a page after its scripts ran, and the messages on the console."""
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         "--virtual-time-budget=8000", *options, "--dump-dom", address],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, [line for line in console if '"[PST]: ' not in line]  # the theme's notices


def show(address, pages, widths, *options):
    """Show pages in frames, one browser for all of them.

    Return the inner width, the width of the contents and the theme of each, and the console.
    """
    query = quote(json.dumps({"pages": pages, "widths": widths}))
    address = f"{address}/frames?{query}"
    shown, console = browse(address, "--virtual-time-budget=60000", *options)
    return json.loads(html.unescape(re.search(r'<pre id="result">(.*?)</pre>', shown)[1])), console


def test_it_builds_without_warnings(built):
    site, printed = built
    assert printed == ""
    assert (site / "index.html").exists()


def test_every_public_name_has_its_page(built):
    inventory = (built[0] / "objects.inv").read_bytes()
    listed = zlib.decompress(inventory.split(b"\n", 4)[4]).decode()
    documented = {line.split(" ")[0].rsplit(".", 1)[-1] for line in listed.splitlines()}
    modules = re.findall(
        r'^    \("(immax[\w.]*)", "', (ROOT / "tools" / "api_reference.py").read_text(), re.M
    )
    assert len(modules) >= 20
    for module in modules:
        names = set(exported_names(tree_of(module_paths()[module]))) - {"__version__"}
        pages = {name.rsplit(".", 1)[-1] for name in module_paths()}  # names that are modules
        assert names <= documented | pages, f"{module}: {names - documented}"


def test_every_internal_link_resolves(pages):
    assert len(pages) > 250
    for page in pages.values():
        for link in page.links:
            if re.match(r"[a-z]+:", link) or link == "#":
                continue
            target, fragment = urldefrag(unquote(link))
            path = (page.path.parent / target).resolve() if target else page.path
            path = path / "index.html" if path.is_dir() else path
            assert path.exists(), f"{page.path.name} links to {link}"
            if fragment and path in pages:
                assert fragment in pages[path].ids, f"{page.path.name} links to {link}"


def test_formulas_have_subscripts_and_code_is_left_alone(built):
    page = (built[0] / "guide.html").read_text(encoding="utf-8")
    assert "ρ<sub>k</sub> ∝ m<sub>k</sub><sup>1/3</sup> r<sub>k</sub><sup>2/3</sup>" in page
    assert "max<sub>j≠y</sub>" in page
    assert "ρ_{y_i}" in page  # a block of code
    assert "predict_proba" in page


def test_the_results_are_listed_once(built):
    page = (built[0] / "theory.html").read_text(encoding="utf-8")
    section = page.split('class="bd-links__title"')[1].split("</nav>")[0]
    assert section.count('href="results/README.html"') == 1
    assert 'href="results/keel.html"' in section


def test_nothing_is_loaded_from_elsewhere(pages):
    for page in pages.values():
        outside = [one for one in page.loaded if re.match(r"(https?:)?//", one)]
        assert not outside, page.path.name
    for sheet in (next(iter(pages)).parent / "_static").rglob("*.css"):
        assert not re.search(r"url\([\"']?https?:", sheet.read_text(encoding="utf-8")), sheet.name


@needs_browser
@pytest.mark.parametrize(("theme", "options"), [("light", []), ("dark", [DARK])])
def test_pages_fit_their_window_and_leave_nothing_on_the_console(address, theme, options):
    found, console = show(address, SHOWN, [NARROW, WIDE], *options)
    assert console == []
    assert len(found) == 2 * len(SHOWN)
    assert {one["inner"] for one in found} == {NARROW, WIDE}
    assert {one["theme"] for one in found} == {theme}
    assert [one for one in found if one["scroll"] > one["inner"]] == []


@needs_browser
def test_a_page_that_is_too_wide_and_its_errors_are_seen(address):
    (found,), console = show(address, ["faulty"], [NARROW])
    assert found["scroll"] > found["inner"] == NARROW
    assert len(console) == 1
    assert "an error" in console[0]


@needs_browser
def test_the_search_finds_margins(address):
    shown, console = browse(f"{address}/search.html?q=margins")
    assert console == []
    hits = re.search(r"found (\d+) pages", shown)
    assert hits
    assert int(hits[1]) > 10
    assert "immax.margins" in shown
