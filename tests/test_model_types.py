"""The types in model files, and those that moved."""

import io
import zipfile

import pytest

from immax.decisions import Costs, FBeta, RecallAt
from immax.model_types import TRUSTED, relocate_classes
from immax.search import BoxFamily, SharedTailFamily

skops = pytest.importorskip("skops.io")


def test_aims_that_have_moved_since_are_found():
    for aim in (Costs([1, 10]), RecallAt(precision=0.5), FBeta(2.0)):
        source = io.BytesIO(skops.dumps(aim))
        earlier = io.BytesIO()
        with zipfile.ZipFile(source) as given, zipfile.ZipFile(earlier, "w") as archive:
            for name in given.namelist():
                content = given.read(name).decode()
                archive.writestr(
                    name, content.replace(type(aim).__module__, "immax.decisions.aims")
                )
        data = relocate_classes(earlier.getvalue())
        assert (data == earlier.getvalue()) == isinstance(aim, FBeta)  # which has not moved
        assert set(skops.get_untrusted_types(data=data)) <= TRUSTED
        loaded = skops.loads(data, trusted=sorted(TRUSTED))
        assert type(loaded) is type(aim)
        assert vars(loaded) == vars(aim)


@pytest.mark.parametrize("family", [BoxFamily(0.5), SharedTailFamily(n_groups=2)])
def test_families_that_have_moved_since_are_found(family):
    source, earlier = io.BytesIO(skops.dumps(family)), io.BytesIO()
    with zipfile.ZipFile(source) as given, zipfile.ZipFile(earlier, "w") as archive:
        for name in given.namelist():
            content = given.read(name).decode()
            assert type(family).__module__ in content
            archive.writestr(
                name, content.replace(type(family).__module__, "immax.search.families")
            )
    assert skops.loads(earlier.getvalue(), trusted=sorted(TRUSTED)) == family


def test_the_types_that_files_may_hold_are_public():
    from immax import io as module

    assert "TRUSTED" in module.__all__
    assert module.TRUSTED is TRUSTED
    assert all(isinstance(name, str) for name in TRUSTED)
