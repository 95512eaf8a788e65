"""A segmentation with rare pixels: margins from pixel counts, unlabelled pixels ignored."""

import torch
from torch import nn

from immax.torch import IMMAXLoss, class_counts


def scenes(n: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return noisy pictures of a large square with a small bright spot, and their labels."""
    labels = torch.zeros(n, 24, 24, dtype=torch.long)
    for label in labels:
        top, left = torch.randint(0, 12, (2,), generator=generator).tolist()
        label[top : top + 12, left : left + 12] = 1
        label[top + 5 : top + 7, left + 5 : left + 7] = 2
    pictures = labels.float() / 2 + 0.35 * torch.randn(n, 24, 24, generator=generator)
    labels[torch.rand(labels.shape, generator=generator) < 0.05] = -100  # unlabelled pixels
    return pictures.unsqueeze(1), labels


def main() -> None:
    """Print the recall of each class of pixels."""
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    pictures, labels = scenes(64, generator)
    counts = class_counts(labels[labels >= 0])
    print(f"pixels per class: {counts.tolist()}")
    model = nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 3, 5, padding=2))
    criterion = IMMAXLoss(counts)  # logits (N, C, H, W), labels (N, H, W)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        optimizer.zero_grad()
        loss = criterion(model(pictures), labels)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        pictures, labels = scenes(32, generator)
        guess = criterion.predict(model(pictures))
    recall = [(guess[labels == k] == k).float().mean().item() for k in range(3)]
    print(f"loss {loss.item():.3f}, recall by class: {[round(r, 3) for r in recall]}")


if __name__ == "__main__":
    main()
