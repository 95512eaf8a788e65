"""Downloads from a server that fails in every way."""

import hashlib
import io
import re
import tarfile
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest

from immax.datasets import fetch
from immax.datasets.cifar import CIFAR10, _load
from immax.datasets.download import Source

CONTENT = np.random.default_rng(0).bytes(300_000)
MD5 = "md5:" + hashlib.md5(CONTENT).hexdigest()
SHA256 = "sha256:" + hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@contextmanager
def serve(content=CONTENT, cuts=(), ranges=True):
    """A server that breaks off its first answers after so many bytes."""
    asked = []
    left = list(cuts)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            wanted = self.headers.get("Range")
            asked.append(wanted)
            begin = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) if wanted and ranges else 0
            if self.path == "/missing" or begin >= len(content):
                self.send_error(404 if self.path == "/missing" else 416)
                return
            self.send_response(206 if begin else 200)
            if begin:
                self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/999")
            self.send_header("Content-Length", str(len(content) - begin))
            self.end_headers()
            self.wfile.write(content[begin:][: left.pop(0) if left else None])

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}"
            yield SimpleNamespace(url=f"{url}/file.bin", missing=f"{url}/missing", asked=asked)
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("digest", [MD5, SHA256, SHA256.upper().replace("SHA", "sha")])
def test_a_file_is_fetched_once(tmp_path, digest):
    path = tmp_path / "deep" / "file.bin"
    with serve() as server:
        assert fetch(server.url, path, len(CONTENT), digest) == path
        assert path.read_bytes() == CONTENT
        fetch(server.url, path, len(CONTENT), digest)
        assert server.asked == [None]
    assert [file.name for file in path.parent.iterdir()] == ["file.bin"]


def test_a_cut_connection_is_resumed(tmp_path):
    seen = []
    with serve(cuts=[100_000, 50_000]) as server:
        path = fetch(
            server.url,
            tmp_path / "file.bin",
            len(CONTENT),
            MD5,
            progress=lambda done, size: seen.append((done, size)),
        )
        assert server.asked == [None, "bytes=100000-", "bytes=150000-"]
    assert path.read_bytes() == CONTENT
    assert seen == sorted(seen)
    assert seen[-1] == (len(CONTENT), len(CONTENT))


def test_a_later_call_goes_on_where_an_earlier_one_ended(tmp_path):
    with serve(cuts=[100_000, 0]) as server:
        with pytest.raises(ConnectionError, match=r"100000 of 300000 bytes are in .*file.bin.part"):
            fetch(server.url, tmp_path / "file.bin", len(CONTENT), MD5)
        assert not (tmp_path / "file.bin").exists()
        fetch(server.url, tmp_path / "file.bin", len(CONTENT), MD5)
        assert server.asked[-1] == "bytes=100000-"
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_server_without_ranges_sends_it_all_again(tmp_path):
    with serve(cuts=[100_000], ranges=False) as server:
        fetch(server.url, tmp_path / "file.bin", len(CONTENT), MD5)
        assert len(server.asked) == 2
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_whole_part_needs_no_connection(tmp_path):
    (tmp_path / "file.bin.part").write_bytes(CONTENT)
    fetch("http://127.0.0.1:9/file.bin", tmp_path / "file.bin", len(CONTENT), SHA256)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_part_that_is_too_long_is_begun_anew(tmp_path):
    (tmp_path / "file.bin.part").write_bytes(CONTENT * 2)
    with serve() as server:
        fetch(server.url, tmp_path / "file.bin", len(CONTENT), SHA256)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_wrong_file_that_is_there_is_replaced(tmp_path):
    (tmp_path / "file.bin").write_bytes(bytes(len(CONTENT)))
    with serve() as server:
        fetch(server.url, tmp_path / "file.bin", len(CONTENT), SHA256)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_wrong_content_is_deleted(tmp_path):
    message = f"does not have the md5 {MD5[4:]}; it was deleted"
    with serve(bytes(len(CONTENT))) as server, pytest.raises(ValueError, match=message):
        fetch(server.url, tmp_path / "file.bin", len(CONTENT), MD5)
    assert list(tmp_path.iterdir()) == []


def test_content_of_another_size_is_not_kept(tmp_path):
    with serve() as server:
        with pytest.raises(ValueError, match="more than the expected 1000 bytes; it was deleted"):
            fetch(server.url, tmp_path / "file.bin", 1000, MD5)
        with pytest.raises(ConnectionError, match="ends after 300000 bytes, which were deleted"):
            fetch(server.url, tmp_path / "file.bin", 400_000, MD5)
    assert list(tmp_path.iterdir()) == []


def test_errors_of_the_server_and_the_network(tmp_path):
    with serve() as server, pytest.raises(ConnectionError, match="the server responded with 404"):
        fetch(server.missing, tmp_path / "file.bin", 10, MD5)
    with pytest.raises(ConnectionError, match=r"could not be downloaded: .*refused"):
        fetch(server.url, tmp_path / "file.bin", 10, MD5)
    with pytest.raises(ValueError, match=r"algorithm of digest must be one of 'sha256', 'md5'"):
        fetch(server.url, tmp_path / "file.bin", 10, "0123")


@pytest.fixture
def cifar():
    """A layout of two records a file, and an archive of it."""
    layout = replace(CIFAR10, train_records=2, test_records=2)
    file = io.BytesIO()
    record = b"\7" + CONTENT[:3072]
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name in layout.batches:
            member = tarfile.TarInfo(f"{layout.folder}/{name}")
            member.size = 2 * len(record)
            archive.addfile(member, io.BytesIO(record * 2))
    return layout, file.getvalue()


def test_a_loader_downloads_what_is_not_there(tmp_path, monkeypatch, cifar):
    layout, archive = cifar
    monkeypatch.setenv("IMMAX_CACHE", str(tmp_path / "cache"))
    with serve(archive, cuts=[len(archive) // 2]) as server:
        digest = "sha256:" + hashlib.sha256(archive).hexdigest()
        url = server.url.replace("file.bin", "cifar-10-binary.tar.gz")
        layout = replace(layout, source=Source(url, len(archive), digest))
        for _ in range(2):
            data = _load(layout, None, download=True)
            assert data.y_test.tolist() == [7, 7]
        assert len(server.asked) == 2
    assert (tmp_path / "cache" / "downloads" / "cifar-10-binary.tar.gz").is_file()
