"""CIFAR-10 and CIFAR-100 from files that are whole, damaged or hostile."""

import io
import os
import tarfile
from dataclasses import replace

import numpy as np
import pytest

from immax.datasets import load_cifar10, load_cifar100
from immax.datasets.cifar import CIFAR10, CIFAR100, _load

TEN = replace(CIFAR10, train_records=4, test_records=6)
HUNDRED = replace(CIFAR100, train_records=12, test_records=5)
NAMES = {
    TEN: [f"thing{k}" for k in range(10)],
    HUNDRED: [f"fine{k}" for k in range(100)],
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("IMMAX_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def made_up(layout):
    """The files by name, and the images and labels that they hold."""
    rng = np.random.default_rng(0)
    files, images, labels = {}, [], []
    for file in layout.batches:
        n = layout.test_records if file == layout.test else layout.train_records
        pixels = rng.integers(0, 256, (n, 3, 32, 32), dtype=np.uint8)
        label = rng.integers(0, layout.n_classes, (n, layout.label_bytes), dtype=np.uint8)
        files[file] = np.hstack([label, pixels.reshape(n, -1)]).tobytes()
        images.append(pixels)
        labels.append(label[:, -1])
    files[layout.names] = ("\n".join(NAMES[layout]) + "\n\n").encode()
    return files, images, labels


def write_folder(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def write_archive(path, files, folder):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:" + path.suffix[1:]) as archive:
        for name, content in reversed(files.items()):
            member = tarfile.TarInfo(f"{folder}{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def check(data, layout, images, labels):
    np.testing.assert_array_equal(data.X_train, np.concatenate(images[:-1]))
    np.testing.assert_array_equal(data.X_test, images[-1])
    np.testing.assert_array_equal(data.y_train, np.concatenate(labels[:-1]))
    np.testing.assert_array_equal(data.y_test, labels[-1])
    assert data.class_names == tuple(NAMES[layout])
    assert data.name == layout.name
    assert data.X_train.dtype == np.uint8
    assert data.y_train.dtype == data.y_test.dtype == np.int64
    assert isinstance(data.X_train, np.memmap)
    assert not data.X_train.flags.writeable


@pytest.mark.parametrize("layout", [TEN, HUNDRED], ids=lambda layout: layout.name)
def test_files_in_every_place(layout, tmp_path):
    files, images, labels = made_up(layout)
    folder = f"{layout.folder}/"
    inside = write_folder(tmp_path / "a" / layout.folder, files)
    archive = write_archive(tmp_path / "b" / f"{layout.archive}inary.tar.gz", files, folder)
    packed = write_archive(tmp_path / "c" / f"{layout.archive}.tar.xz", files, f"./{folder}")
    odd = write_archive(tmp_path / "d" / "odd name.tar.gz", files, "")
    for place in (inside, inside.parent, archive, str(archive.parent), packed.parent, odd):
        check(_load(layout, place), layout, images, labels)


def test_a_downloaded_archive_in_the_cache_is_the_default(cache):
    files, images, labels = made_up(TEN)
    write_archive(cache / "downloads" / "cifar-10-binary.tar.gz", files, "cifar-10-batches-bin/")
    check(_load(TEN, None), TEN, images, labels)


def test_classes_without_names_are_numbered(tmp_path):
    files, _, _ = made_up(TEN)
    del files[TEN.names]
    data = _load(TEN, write_folder(tmp_path / "data", files))
    assert data.class_names == tuple("0123456789")


def test_conversion_happens_once_and_again_after_a_change(tmp_path, cache):
    files, images, _ = made_up(TEN)
    archive = write_archive(tmp_path / "cifar-10-b.tar.gz", files, "")
    _load(TEN, archive)
    kept = os.listdir(cache / "converted")
    stat = archive.stat()
    archive.write_bytes(b"?" * stat.st_size)  # which is not read again
    os.utime(archive, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    np.testing.assert_array_equal(_load(TEN, archive).X_test, images[-1])
    assert os.listdir(cache / "converted") == kept
    os.utime(archive, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    with pytest.raises(ValueError, match="cannot be read as an archive"):
        _load(TEN, archive)


def test_a_failed_conversion_leaves_nothing(tmp_path, cache):
    files, _, _ = made_up(TEN)
    broken = files | {"test_batch.bin": b""}
    with pytest.raises(ValueError, match="test_batch"):
        _load(TEN, write_folder(tmp_path / "data", broken))
    assert os.listdir(cache / "converted") == []


@pytest.mark.parametrize("pack", [True, False])
def test_truncated_files_are_refused(tmp_path, pack):
    files, _, _ = made_up(TEN)
    files["data_batch_3.bin"] = files["data_batch_3.bin"][:-1]
    if pack:
        place = write_archive(tmp_path / "cifar-10-b.tar.gz", files, "cifar-10-batches-bin/")
    else:
        place = write_folder(tmp_path / "data", files)
    message = "data_batch_3.bin in .* must hold 4 records of 3073 bytes, 12292 in all; got 12291"
    with pytest.raises(ValueError, match=message):
        _load(TEN, place)


@pytest.mark.parametrize("suffix", ["gz", "xz"])
def test_truncated_archives_are_refused(tmp_path, suffix):
    files, _, _ = made_up(TEN)
    archive = write_archive(tmp_path / f"cifar-10-b.tar.{suffix}", files, "")
    archive.write_bytes(archive.read_bytes()[:-5000])
    with pytest.raises(ValueError, match=r"cifar-10-b.* cannot be read as an archive"):
        _load(TEN, tmp_path)


def test_labels_out_of_range_are_refused(tmp_path):
    files, _, _ = made_up(TEN)
    files["data_batch_2.bin"] = b"\x0a" + files["data_batch_2.bin"][1:]
    with pytest.raises(ValueError, match=r"data_batch_2.bin in .* must lie in 0 to 9; got 10"):
        _load(TEN, write_folder(tmp_path / "data", files))


def test_missing_files_are_named(tmp_path):
    files, _, _ = made_up(TEN)
    del files["data_batch_2.bin"], files["test_batch.bin"]
    message = "lacks data_batch_2.bin, test_batch.bin of the binary version of CIFAR-10"
    with pytest.raises(FileNotFoundError, match=message):
        _load(TEN, write_folder(tmp_path / "data", files))


def test_a_wrong_number_of_names_is_refused(tmp_path):
    files, _, _ = made_up(TEN)
    files[TEN.names] = b"cat\ndog\n"
    with pytest.raises(ValueError, match=r"batches.meta.txt in .* must hold 10 names; got 2"):
        _load(TEN, write_folder(tmp_path / "data", files))


def test_members_with_other_names_are_never_written(tmp_path):
    files, images, labels = made_up(TEN)
    archive = tmp_path / "data" / "cifar-10-b.tar.gz"
    other = bytes(len(files["data_batch_1.bin"]))
    strange = {
        "../test_batch.bin": other,
        "/data_batch_1.bin": other,
        "../../evil.txt": b"evil",
        "elsewhere/data_batch_1.bin": other,
        "cifar-10-batches-bin/deeper/data_batch_1.bin": other,
    }
    good = {f"cifar-10-batches-bin/{name}": content for name, content in files.items()}
    write_archive(archive, strange | good, "")
    before = {path for path in tmp_path.rglob("*") if "cache" not in path.parts}
    check(_load(TEN, archive), TEN, images, labels)
    assert {path for path in tmp_path.rglob("*") if "cache" not in path.parts} == before
    assert not list(tmp_path.rglob("*.bin"))


def test_links_in_an_archive_are_not_followed(tmp_path):
    files, _, _ = made_up(TEN)
    secret = tmp_path / "secret"
    secret.write_bytes(files.pop("test_batch.bin"))
    archive = tmp_path / "cifar-10-b.tar"
    with tarfile.open(archive, "w") as tar:
        link = tarfile.TarInfo("test_batch.bin")
        link.type, link.linkname = tarfile.SYMTYPE, str(secret)
        tar.addfile(link)
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    with pytest.raises(FileNotFoundError, match=r"lacks test_batch.bin"):
        _load(TEN, archive)


def test_a_file_twice_is_refused(tmp_path):
    files, _, _ = made_up(TEN)
    both = {f"./{name}": content for name, content in files.items()}
    both["cifar-10-batches-bin/test_batch.bin"] = files["test_batch.bin"]
    archive = write_archive(tmp_path / "cifar-10-b.tar.gz", both, "")
    with pytest.raises(ValueError, match=r"holds test_batch.bin twice"):
        _load(TEN, archive)


def test_the_version_with_pickles_is_not_taken(tmp_path):
    write_archive(tmp_path / "cifar-10-python.tar.gz", {"data_batch_1": b"\x80"}, "")
    message = (
        "CIFAR-10 is not in .*: looked for data_batch_1.bin, the folder cifar-10-batches-bin and "
        r"an archive cifar-10-b\*.tar.gz or .tar.xz; download it from https://.* with "
        "download=True, or give its folder as data_dir"
    )
    with pytest.raises(FileNotFoundError, match=message):
        load_cifar10(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"lacks data_batch_1.bin"):
        load_cifar10(tmp_path / "cifar-10-python.tar.gz")


def test_the_public_functions_want_all_of_it(tmp_path):
    files, _, _ = made_up(HUNDRED)
    write_folder(tmp_path / "cifar-100-binary", files)
    with pytest.raises(ValueError, match="must hold 50000 records of 3074 bytes"):
        load_cifar100(tmp_path)
    with pytest.raises(FileNotFoundError, match="CIFAR-10 is not in"):
        load_cifar10(tmp_path)
