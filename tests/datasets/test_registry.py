"""The readers of image data sets by name."""

import pytest

from immax import datasets
from immax.datasets import ImageData, load_images
from immax.datasets.registry import READERS, ImageReader


def test_every_reader_of_images_has_a_row():
    loaders = {
        name.removeprefix("load_")
        for name in datasets.__all__
        if name.startswith("load_")
        and getattr(datasets, name).__annotations__.get("return") == "ImageData"
    }
    assert set(READERS) == loaders - {"images"}
    for name, reader in READERS.items():
        assert reader.load is getattr(datasets, f"load_{name}")


@pytest.mark.parametrize("name", READERS)
def test_data_that_is_not_there_is_named(name, tmp_path):
    with pytest.raises(FileNotFoundError, match="is not in"):
        load_images(name, tmp_path)


def test_download_is_passed_on_where_it_can_be(monkeypatch):
    calls = []

    def load(data_dir, **options):
        calls.append((data_dir, options))
        return ImageData(*[None] * 4, (), "")

    monkeypatch.setitem(READERS, "mnist", ImageReader(load, can_download=False))
    monkeypatch.setitem(READERS, "cifar10", ImageReader(load))
    load_images("mnist", "here", download=True)
    load_images("cifar10", download=True)
    assert calls == [("here", {}), (None, {"download": True})]


def test_an_unknown_name_names_the_nearest():
    with pytest.raises(ValueError, match="no image data set 'cifar_10'; did you mean 'cifar10'"):
        load_images("cifar_10")
