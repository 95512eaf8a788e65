"""The documentation site: built without warnings, complete, its links whole, in a browser."""

import functools
import http.server
import re
import shutil
import subprocess
import threading
import zlib
from urllib.parse import unquote, urldefrag

import pytest
from site_build import Page, build_site
from source_tree import ROOT, exported_names, module_paths, tree_of

pytest.importorskip("sphinx", reason="needs the extra docs")
pytest.importorskip("sphinx_gallery", reason="needs the extra docs")
pytest.importorskip("torch", reason="the reference imports every module")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


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


def browse(address, *options):
    """Return the elements of a page after its scripts ran, and the messages on the console."""
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         "--virtual-time-budget=8000", *options, "--dump-dom", address],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, [line for line in console if '"[PST]: ' not in line]  # the theme's notices


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


def test_nothing_is_loaded_from_elsewhere(pages):
    for page in pages.values():
        outside = [one for one in page.loaded if re.match(r"(https?:)?//", one)]
        assert not outside, page.path.name
    for sheet in (next(iter(pages)).parent / "_static").rglob("*.css"):
        assert not re.search(r"url\([\"']?https?:", sheet.read_text(encoding="utf-8")), sheet.name


@needs_browser
@pytest.mark.parametrize("page", ["index.html", "guide.html", "coming-from/class-weight.html"])
def test_pages_open_with_nothing_on_the_console(address, page):
    shown, console = browse(f"{address}/{page}")
    assert console == []
    assert 'data-theme="light"' in shown
    shown, console = browse(f"{address}/{page}", "--blink-settings=preferredColorScheme=0")
    assert console == []
    assert 'data-theme="dark"' in shown


@needs_browser
def test_the_search_finds_margins(address):
    shown, console = browse(f"{address}/search.html?q=margins")
    assert console == []
    hits = re.search(r"found (\d+) pages", shown)
    assert hits
    assert int(hits[1]) > 10
    assert "immax.margins" in shown
