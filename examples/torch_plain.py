"""A network on the long-tailed digits, with cross-entropy and then with IMMAX."""

import torch
from sklearn.datasets import load_digits
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import train_test_split
from torch import nn

from immax.datasets import long_tailed
from immax.torch import IMMAXLoss, class_counts


def data() -> list[torch.Tensor]:
    """Return training and test halves with the same class shares."""
    X, y = load_digits(return_X_y=True)
    keep = long_tailed(y, 20, random_state=0)
    parts = train_test_split(X[keep] / 16, y[keep], test_size=0.5, stratify=y[keep], random_state=0)
    X, X_test, y, y_test = (torch.from_numpy(part) for part in parts)
    return [X.float(), X_test.float(), y, y_test]


def train(criterion: nn.Module, X: torch.Tensor, y: torch.Tensor) -> nn.Module:
    """Train a small network; the same seed gives the same weights."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(20):
        for rows in torch.randperm(len(y)).split(64):
            optimizer.zero_grad()
            criterion(model(X[rows]), y[rows]).backward()
            optimizer.step()
    return model


def main() -> None:
    """Print the accuracy, the balanced accuracy and the log-loss of each loss."""
    X, X_test, y, y_test = data()
    print(f"class counts: {class_counts(y).tolist()}")
    for name, criterion in {
        "cross-entropy": nn.CrossEntropyLoss(),
        "IMMAX": IMMAXLoss(labels=y),
    }.items():
        model = train(criterion, X, y)
        with torch.no_grad():
            logits = model(X_test).double()
        proba = criterion.proba(logits) if isinstance(criterion, IMMAXLoss) else logits.softmax(1)
        guess = logits.argmax(1)
        print(
            f"{name:14} accuracy {(guess == y_test).float().mean():.3f}, balanced "
            f"{balanced_accuracy_score(y_test, guess):.3f}, log-loss "
            f"{log_loss(y_test, proba.numpy(), labels=range(10)):.3f}"
        )


if __name__ == "__main__":
    main()
