"""A trained network with another last layer: its features, an exact head, better probabilities.

A network that fits its training samples is far too sure of itself. Its features are good, and its
last layer is a linear model on them: ``refit_head`` solves for that layer exactly, with λ and
margins selected on samples that the network was not trained on.
"""

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from immax.datasets import load_page_blocks
from immax.torch import refit_head

EPOCHS = 100


def data() -> list[DataLoader]:
    """Return training, held-out and test samples of the page blocks: a tenth is not text."""
    table, labels = load_page_blocks()
    X, y = np.log1p(np.abs(table.to_numpy())), (labels.to_numpy() == "other").astype(int)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    X, X_held, y, y_held = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    scaler = StandardScaler().fit(X)
    parts = [(X, y), (X_held, y_held), (X_test, y_test)]
    sets = [
        TensorDataset(torch.tensor(scaler.transform(a)).float(), torch.tensor(b)) for a, b in parts
    ]
    return [DataLoader(part, batch_size=128, shuffle=part is sets[0]) for part in sets]


def train(loader: DataLoader) -> nn.Module:
    """Train a network by cross-entropy until it nearly fits the training samples."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(10, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for _ in range(EPOCHS):
        for X, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(X), y).backward()
            optimizer.step()
    return model.eval()


def main() -> None:
    """Print the accuracy and the log-loss on test samples before and after."""
    train_loader, held_out_loader, test_loader = data()
    model = train(train_loader)
    X, y = test_loader.dataset.tensors
    with torch.no_grad():
        log_p = model(X).log_softmax(1)
    print_row("trained by cross-entropy", log_p, log_p.argmax(1), y)

    head = refit_head(model, train_loader, selection=held_out_loader)

    with torch.no_grad():
        logits = model(X)
    print_row("with a refitted head", head.log_proba(logits), head.predict(logits), y)
    print(f"λ = {head.record.lam:.3g}, power {head.record.parameters['power']:.3g}")
    head.save("head.safetensors")


def print_row(name: str, log_p: torch.Tensor, guess: torch.Tensor, y: torch.Tensor) -> None:
    """Print accuracy and log-loss."""
    accuracy = (guess == y).float().mean()
    loss = -log_p[torch.arange(len(y)), y].mean()
    print(f"{name:25} accuracy {accuracy:.3f}, log-loss {loss:.3f}")


if __name__ == "__main__":
    main()
