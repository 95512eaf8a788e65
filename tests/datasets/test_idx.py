"""MNIST and Fashion-MNIST from idx files."""

import gzip
import struct

import numpy as np
import pytest

from immax.datasets import idx, load_fashion_mnist, load_mnist

FILES = {
    "train-images-idx3-ubyte": (7, 28, 28),
    "train-labels-idx1-ubyte": (7,),
    "t10k-images-idx3-ubyte": (3, 28, 28),
    "t10k-labels-idx1-ubyte": (3,),
}


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("IMMAX_CACHE", str(tmp_path / "cache"))


def packed(array):
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(np.uint8).tobytes()


def made_up():
    rng = np.random.default_rng(0)
    return {name: rng.integers(0, 10, shape) for name, shape in FILES.items()}


def write(folder, arrays, *, gz=False, **instead):
    folder.mkdir(parents=True, exist_ok=True)
    contents = {name: packed(array) for name, array in arrays.items()}
    contents |= {name.replace("_", "-"): content for name, content in instead.items()}
    for name, content in contents.items():
        path = folder / (name + ".gz" if gz else name)
        path.write_bytes(gzip.compress(content) if gz else content)
    return folder


@pytest.mark.parametrize("gz", [False, True])
@pytest.mark.parametrize(
    ("load", "place"),
    [
        (load_mnist, ""),
        (load_mnist, "MNIST/raw"),
        (load_fashion_mnist, ""),
        (load_fashion_mnist, "fashion-mnist"),
    ],
)
def test_plain_and_packed_files(tmp_path, gz, load, place):
    arrays = made_up()
    write(tmp_path / "data" / place, arrays, gz=gz)
    data = load(tmp_path / "data")
    np.testing.assert_array_equal(data.X_train[:, 0], arrays["train-images-idx3-ubyte"])
    np.testing.assert_array_equal(data.y_train, arrays["train-labels-idx1-ubyte"])
    np.testing.assert_array_equal(data.y_test, arrays["t10k-labels-idx1-ubyte"])
    assert data.X_test.shape == (3, 1, 28, 28)
    assert data.X_test.dtype == np.uint8
    assert isinstance(data.X_test, np.memmap)
    assert data.y_test.dtype == np.int64
    assert len(data.class_names) == 10


def test_fashion_is_looked_for_where_debian_has_it(tmp_path, monkeypatch):
    monkeypatch.setattr(idx, "DEBIAN", write(tmp_path / "debian", made_up(), gz=True))
    data = load_fashion_mnist()
    assert data.name == "Fashion-MNIST"
    assert data.class_names[9] == "Ankle boot"
    monkeypatch.setattr(idx, "DEBIAN", tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="apt-get install dataset-fashion-mnist, or give"):
        load_fashion_mnist()


def test_missing_files_are_named(tmp_path):
    arrays = made_up()
    del arrays["t10k-labels-idx1-ubyte"]
    message = r"looked for t10k-labels-idx1-ubyte\[.gz\]; put the four files there"
    with pytest.raises(FileNotFoundError, match=message):
        load_mnist(write(tmp_path / "data", arrays))
    with pytest.raises(FileNotFoundError, match=r"MNIST is not in .*downloads"):
        load_mnist()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (packed(np.zeros((7, 28, 28)))[:-1], "must hold 5488 bytes after its header; got 5487"),
        (packed(np.zeros((7, 28, 28))) + b"\0", "must hold 5488 bytes after its header; got 5489"),
        (packed(np.zeros((7, 28, 27))), r"samples of shape \(28, 28\); got \(28, 27\)"),
        (packed(np.zeros((7, 784))), "dimensions, 00 00 08 03; got 00 00 08 02"),
        (b"\0\0\x0d\3" + bytes(12), "dimensions, 00 00 08 03; got 00 00 0d 03"),
        (
            b"\0\0\x08\3" + bytes(5),
            "header of an idx file of bytes in 3 dimensions",
        ),
        (packed(np.zeros((0, 28, 28))), "no samples"),
        (b"", "got nothing"),
        (packed(np.zeros((6, 28, 28))), "a label for each of the 6 images; got 7"),
    ],
)
@pytest.mark.parametrize("gz", [False, True])
def test_damaged_images(tmp_path, content, message, gz):
    write(tmp_path / "data", made_up(), gz=gz, train_images_idx3_ubyte=content)
    with pytest.raises(ValueError, match=message):
        load_mnist(tmp_path / "data")


def test_labels_out_of_range(tmp_path):
    wrong = packed(np.array([0, 10, 3]))
    write(tmp_path / "data", made_up(), t10k_labels_idx1_ubyte=wrong)
    with pytest.raises(ValueError, match="must lie in 0 to 9; got 10"):
        load_mnist(tmp_path / "data")


@pytest.mark.parametrize("cut", [slice(-4), slice(1, None), slice(40)])
def test_a_damaged_archive(tmp_path, cut):
    folder = write(tmp_path / "data", made_up(), gz=True)
    path = folder / "train-images-idx3-ubyte.gz"
    path.write_bytes(path.read_bytes()[cut])
    with pytest.raises(ValueError, match=r"train-images-idx3-ubyte.gz cannot be decompressed"):
        load_mnist(folder)
