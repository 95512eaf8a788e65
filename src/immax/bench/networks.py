"""Networks for small images.

Two families of residual networks: those of He et al. for CIFAR (8, 20 and 32 layers, 16 to 64
channels), and the larger ones (18 and 34 layers, 64 to 512 channels) with a stem for small images,
a 3×3 convolution in place of a strided one and pooling.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["make_network"]


class Block(nn.Module):
    """Two convolutions with a residual connection."""

    def __init__(self, inputs: int, outputs: int, stride: int, project: bool) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.padding = outputs - inputs
        self.stride = stride
        self.shortcut: nn.Module | None = None
        if project and (stride > 1 or self.padding):
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        out = torch.relu(self.first_norm(self.first(x)))
        out = self.second_norm(self.second(out))
        if self.shortcut is not None:
            x = self.shortcut(x)
        elif self.stride > 1 or self.padding:
            # A shortcut without parameters: every other pixel, and channels of zeros.
            x = x[:, :, :: self.stride, :: self.stride]
            half = self.padding // 2
            x = nn.functional.pad(x, (0, 0, 0, 0, half, self.padding - half))
        return torch.relu(out + x)


class ResNet(nn.Module):
    """A residual network: stages of blocks, each with half the resolution of the one before."""

    def __init__(
        self, blocks: list[int], widths: list[int], channels: int, n_classes: int, project: bool
    ) -> None:
        super().__init__()
        self.stem = nn.Conv2d(channels, widths[0], 3, 1, 1, bias=False)
        self.stem_norm = nn.BatchNorm2d(widths[0])
        stages: list[nn.Module] = []
        inputs = widths[0]
        for stage, (depth, width) in enumerate(zip(blocks, widths, strict=True)):
            for block in range(depth):
                stride = 2 if stage and not block else 1
                stages.append(Block(inputs, width, stride, project))
                inputs = width
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(inputs, n_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        out = self.stages(torch.relu(self.stem_norm(self.stem(x)))).mean(dim=(2, 3))
        with torch.autocast(x.device.type, enabled=False):  # small margins magnify rounded scores
            return self.head(out.float())


class MLP(nn.Module):
    """A multi-layer perceptron with two hidden layers."""

    def __init__(self, inputs: int, n_classes: int, width: int = 256) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(),
            nn.Linear(inputs, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, n_classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


SMALL = {"resnet8": 1, "resnet20": 3, "resnet32": 5}  # blocks of each stage
LARGE = {"resnet18": [2, 2, 2, 2], "resnet34": [3, 4, 6, 3]}


def make_network(name: str, shape: tuple[int, ...], n_classes: int) -> nn.Module:
    """Return a network by its name.

    Parameters
    ----------
    name : str
        "resnet8", "resnet20", "resnet32", "resnet18", "resnet34", "mlp" or "softmax".
    shape : tuple of int
        The shape of an image, (channels, height, width).
    n_classes : int

    Returns
    -------
    nn.Module

    Examples
    --------
    >>> net = make_network("resnet20", (3, 32, 32), 10)
    >>> sum(parameter.numel() for parameter in net.parameters())
    269722
    """
    if name in SMALL:
        return ResNet([SMALL[name]] * 3, [16, 32, 64], shape[0], n_classes, project=False)
    if name in LARGE:
        return ResNet(LARGE[name], [64, 128, 256, 512], shape[0], n_classes, project=True)
    size = int(torch.tensor(shape).prod())
    if name == "mlp":
        return MLP(size, n_classes)
    if name == "softmax":
        return nn.Sequential(nn.Flatten(), nn.Linear(size, n_classes))
    raise ValueError(f"there is no network {name!r}")
