"""The documentation site: built in a folder of its own, and its pages and links."""

import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from source_tree import ROOT

FOLDERS = ("docs", "examples", "tools", "src")
GENERATED = shutil.ignore_patterns("_build", "gallery.zip", "reference", "__pycache__", "*.xz")


def build_site(folder: Path) -> tuple[Path, str]:
    """Build the site without running its gallery, and return its folder and what was printed."""
    sources = folder / "sources"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, sources / name, ignore=GENERATED)
    shutil.rmtree(sources / "docs" / "gallery", ignore_errors=True)
    for page in (*ROOT.glob("*.md"), *ROOT.glob("*.cff")):
        shutil.copy(page, sources)
    site = folder / "site"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-D", "plot_gallery=0"]
    done = subprocess.run(
        [*command, str(sources / "docs"), str(site)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    return site, done.stdout + done.stderr


@dataclass
class Page(HTMLParser):
    """The targets of a page, its links, and what it loads."""

    path: Path
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in ("script", "img", "source", "iframe") and values.get("src"):
            self.loaded.append(values["src"])
        if tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(values["href"])

    def __hash__(self) -> int:
        return hash(self.path)
