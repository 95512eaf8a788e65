"""IMMAX in skorch, with probabilities instead of logits from ``predict_proba``."""

import torch
from sklearn.metrics import balanced_accuracy_score, log_loss
from skorch import NeuralNetClassifier
from torch import nn
from torch_plain import data

from immax.torch import IMMAXLoss


def main() -> None:
    """Print the balanced accuracy and the log-loss on the test data."""
    X, X_test, y, y_test = data()
    criterion = IMMAXLoss(labels=y)
    torch.manual_seed(0)
    net = NeuralNetClassifier(
        nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)),
        criterion=criterion,
        predict_nonlinearity=criterion.proba,  # by itself, skorch would return the logits
        optimizer=torch.optim.AdamW,
        lr=0.01,
        max_epochs=20,
        batch_size=64,
        train_split=None,
        verbose=0,
    )
    net.fit(X, y)
    proba = net.predict_proba(X_test)
    print(f"probabilities sum to {proba.sum(axis=1).min():.4f} to {proba.sum(axis=1).max():.4f}")
    proba = proba.astype(float)
    proba /= proba.sum(axis=1, keepdims=True)  # to the last digit of double precision
    print(
        f"balanced accuracy {balanced_accuracy_score(y_test, net.predict(X_test)):.3f}, log-loss "
        f"{log_loss(y_test, proba, labels=range(10)):.3f}"
    )


if __name__ == "__main__":
    main()
