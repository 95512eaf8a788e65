import re

import pytest
from source_tree import SOURCE

from immax.torch.requirements import PRIVATE_NAMES, check_torch


def test_this_release_has_them():
    check_torch()


def test_a_missing_function_is_named():
    with pytest.raises(ImportError, match=r"torch\._C\._none, which PyTorch .* does not have"):
        check_torch(("_C._none",))


def test_every_private_name_in_use_is_checked():
    listed = " ".join(PRIVATE_NAMES)
    for path in (SOURCE / "immax").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        used = re.findall(r"torch\.(_C\.\w+)", text) + re.findall(r"from torch\.(_\w+\.\w+)", text)
        assert all(name in listed for name in used), (path, used)
