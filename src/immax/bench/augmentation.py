"""Augmentation of batches of images, on their device."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["augment"]


def augment(images: Tensor, kind: str, pad: int, generator: torch.Generator) -> Tensor:
    """Return random crops of the padded images, for "crop_flip" with random horizontal flips.

    Random numbers are drawn on the CPU, so that they do not depend on the device.

    Parameters
    ----------
    images : Tensor of shape (n, channels, height, width)
    kind : {"none", "crop", "crop_flip"}
    pad : int
        Pixels of zeros on each side.
    generator : torch.Generator
        On the CPU.

    Returns
    -------
    Tensor of shape (n, channels, height, width)
    """
    if kind == "none":
        return images
    n, channels, height, width = images.shape
    shift = torch.randint(0, 2 * pad + 1, (2, n), generator=generator).to(images.device)
    rows = shift[0][:, None] + torch.arange(height, device=images.device)
    columns = shift[1][:, None] + torch.arange(width, device=images.device)
    if kind == "crop_flip":
        flip = (torch.rand(n, generator=generator) < 0.5).to(images.device)
        columns = torch.where(flip[:, None], columns.flip(1), columns)
    padded = nn.functional.pad(images, (pad, pad, pad, pad))
    which = torch.arange(n, device=images.device)[:, None, None, None]
    channel = torch.arange(channels, device=images.device)[None, :, None, None]
    return padded[which, channel, rows[:, None, :, None], columns[:, None, None, :]]
