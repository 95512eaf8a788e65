"""Tiny ImageNet from a folder and from its archive."""

import io
import os
import sys
import zipfile

import numpy as np
import pytest

from immax.datasets import load_tiny_imagenet
from immax.datasets.tiny_imagenet import Counts, _load

FEW = Counts(classes=3, train_images=2, test_images=4)
IDS = ["n03", "n01", "n02"]
Image = pytest.importorskip("PIL.Image")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("IMMAX_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def jpeg(colour, mode="RGB", size=64):
    file = io.BytesIO()
    Image.new(mode, (size, size), colour).save(file, "JPEG", quality=100)
    return file.getvalue()


def made_up():
    """One colour for each class, red in the training and blue in the test set; one is grey."""
    files = {
        "wnids.txt": "\n".join(IDS).encode(),
        "words.txt": b"n01\tgoldfish, a fish\nn02\tcrane\nn99\tother\n",
    }
    for k, wnid in enumerate(sorted(IDS)):
        files[f"train/{wnid}/{wnid}_boxes.txt"] = b""
        for i in range(2):
            files[f"train/{wnid}/images/{wnid}_{i}.JPEG"] = jpeg((100 + 50 * k, 0, 0))
    labels = ["n02", "n01", "n03", "n03"]
    for i, wnid in enumerate(labels):
        colour = (0, 0, 100 + 50 * sorted(IDS).index(wnid))
        files[f"val/images/val_{i}.JPEG"] = jpeg(77, "L") if i == 3 else jpeg(colour)
    lines = [f"val_{i}.JPEG\t{wnid}\t0\t0\t62\t62" for i, wnid in enumerate(labels)]
    files["val/val_annotations.txt"] = "\n".join(lines).encode()
    files["test/images/test_0.JPEG"] = b"not looked at"
    return files


def write(folder, files):
    for name, content in files.items():
        path = folder / "tiny-imagenet-200" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def write_zip(path, files):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"tiny-imagenet-200/{name}", content)
    return path


def check(data):
    assert data.class_names == ("goldfish, a fish", "crane", "n03")
    assert data.X_train.shape == (6, 3, 64, 64)
    assert data.X_train.dtype == np.uint8
    assert isinstance(data.X_train, np.memmap)
    assert data.y_train.tolist() == [0, 0, 1, 1, 2, 2]
    assert data.y_test.tolist() == [1, 0, 2, 2]
    assert data.y_test.dtype == np.int64
    red = data.X_train[:, 0].mean(axis=(1, 2))
    np.testing.assert_allclose(red, 100 + 50 * data.y_train, atol=2)
    blue = data.X_test[:3, 2].mean(axis=(1, 2))
    np.testing.assert_allclose(blue, 100 + 50 * data.y_test[:3], atol=2)
    np.testing.assert_allclose(data.X_test[3], 77, atol=1)


def test_the_folder_and_the_archive(tmp_path):
    files = made_up()
    write(tmp_path / "a", files)
    check(_load(FEW, tmp_path / "a"))
    check(_load(FEW, tmp_path / "a" / "tiny-imagenet-200"))
    archive = write_zip(tmp_path / "b" / "tiny-imagenet-200.zip", files)
    check(_load(FEW, archive))
    check(_load(FEW, tmp_path / "b"))
    assert os.listdir(tmp_path / "b") == ["tiny-imagenet-200.zip"]


def test_images_are_decoded_once(tmp_path, monkeypatch, cache):
    write(tmp_path / "a", made_up())
    _load(FEW, tmp_path / "a")
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    check(_load(FEW, tmp_path / "a"))
    write_zip(tmp_path / "b" / "tiny-imagenet-200.zip", made_up())
    with pytest.raises(ImportError, match=r"needs Pillow: pip install immax\[bench\]"):
        _load(FEW, tmp_path / "b")
    assert len(os.listdir(cache / "converted")) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"wnids.txt": b"n01 n02"}, "must hold 3 classes in wnids.txt; got 2"),
        ({"train/n02/images/n02_1.JPEG": None}, "2 images in train/n02/images; got 1"),
        ({"val/val_annotations.txt": b"val_0.JPEG\tn01"}, "4 images in val_annotations.*; got 1"),
        ({"val/images/val_2.JPEG": None}, r"images in val/images.*; got 'val_2.JPEG\\tn03"),
        ({"val/val_annotations.txt": b"val_0.JPEG\tn77"}, "classes in wnids.txt; got"),
        ({"val/val_annotations.txt": b"nonsense"}, "got 'nonsense'"),
        ({"val/images/val_0.JPEG": b"nonsense"}, r"val_0.JPEG in .* cannot be decoded"),
        ({"val/images/val_0.JPEG": jpeg(0)[:-200]}, r"val_0.JPEG in .* cannot be decoded"),
        ({"val/images/val_0.JPEG": jpeg(0, size=32)}, r"64 × 64 pixels; got \(32, 32\)"),
    ],
)
@pytest.mark.parametrize("pack", [False, True])
def test_damaged_data(tmp_path, changes, message, pack, cache):
    files = {name: content for name, content in (made_up() | changes).items() if content}
    if pack:
        write_zip(tmp_path / "data" / "tiny-imagenet-200.zip", files)
    else:
        write(tmp_path / "data", files)
    with pytest.raises(ValueError, match=message):
        _load(FEW, tmp_path / "data")
    assert os.listdir(cache / "converted") == []


def test_missing_data(tmp_path):
    message = r"looked for wnids.txt, the folder tiny-imagenet-200 and tiny-imagenet-200.zip; down"
    with pytest.raises(FileNotFoundError, match=message):
        load_tiny_imagenet(tmp_path)
    files = made_up()
    del files["val/val_annotations.txt"]
    with pytest.raises(FileNotFoundError, match=r"lacks val/val_annotations.txt"):
        load_tiny_imagenet(write(tmp_path, files))


def test_a_damaged_archive(tmp_path):
    archive = write_zip(tmp_path / "tiny-imagenet-200.zip", made_up())
    archive.write_bytes(archive.read_bytes()[:-100])
    with pytest.raises(ValueError, match="cannot be read as an archive"):
        _load(FEW, tmp_path)


def test_the_public_function_wants_all_of_it(tmp_path):
    with pytest.raises(ValueError, match="must hold 200 classes"):
        load_tiny_imagenet(write(tmp_path, made_up()))
