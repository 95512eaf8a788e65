"""Random crops and flips."""

import torch

from immax.bench.augmentation import augment


def test_crops_and_flips_are_those_of_a_loop():
    x = torch.arange(5 * 2 * 4 * 4, dtype=torch.float32).reshape(5, 2, 4, 4) + 1
    found = augment(x, "crop_flip", 2, torch.Generator().manual_seed(3))
    generator = torch.Generator().manual_seed(3)
    shift = torch.randint(0, 5, (2, 5), generator=generator)
    flip = torch.rand(5, generator=generator) < 0.5
    padded = torch.nn.functional.pad(x, (2, 2, 2, 2))
    for i in range(5):
        top, left = shift[0, i], shift[1, i]
        crop = padded[i, :, top : top + 4, left : left + 4]
        assert torch.equal(found[i], crop.flip(2) if flip[i] else crop)
    assert flip.any()
    assert augment(x, "none", 2, generator) is x
