"""IMMAX in the Trainer of Hugging Face, with probabilities instead of logits from ``predict``."""

import tempfile

import torch
from sklearn.metrics import balanced_accuracy_score, log_loss
from torch import nn
from torch_plain import data
from transformers import Trainer, TrainingArguments
from transformers.modeling_outputs import SequenceClassifierOutput

from immax.torch import IMMAXLoss


class Network(nn.Module):
    """A network with the interface of the models of Hugging Face."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(
        self,
        x: torch.Tensor,
        labels: torch.Tensor | None = None,  # noqa: ARG002
    ) -> SequenceClassifierOutput:
        return SequenceClassifierOutput(logits=self.layers(x))


def rows(X: torch.Tensor, y: torch.Tensor) -> list[dict[str, torch.Tensor]]:
    """Return the samples as the Trainer takes them."""
    return [{"x": x, "labels": label} for x, label in zip(X, y, strict=True)]


def main() -> None:
    """Print the balanced accuracy and the log-loss on the test data."""
    torch.manual_seed(0)  # the network is made before the Trainer sets its seed
    X, X_test, y, y_test = data()
    criterion = IMMAXLoss(labels=y, reduction="sum")

    def loss(outputs, labels, num_items_in_batch=None):
        # The Trainer says how many labels all accumulated batches have.
        return criterion(outputs["logits"], labels) / (num_items_in_batch or len(labels))

    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            Network(),
            TrainingArguments(
                folder,
                num_train_epochs=20,
                per_device_train_batch_size=64,
                learning_rate=0.01,
                lr_scheduler_type="constant",
                save_strategy="no",
                report_to=[],
                disable_tqdm=True,
                logging_strategy="no",
                use_cpu=not torch.cuda.is_available(),
                seed=0,
            ),
            train_dataset=rows(X, y),
            compute_loss_func=loss,
            preprocess_logits_for_metrics=lambda logits, _: criterion.proba(logits),
        )
        trainer.train()
        proba = trainer.predict(rows(X_test, y_test)).predictions
    print(f"probabilities sum to {proba.sum(axis=1).min():.4f} to {proba.sum(axis=1).max():.4f}")
    proba = proba.astype(float)
    proba /= proba.sum(axis=1, keepdims=True)  # to the last digit of double precision
    print(
        f"balanced accuracy {balanced_accuracy_score(y_test, proba.argmax(axis=1)):.3f}, log-loss "
        f"{log_loss(y_test, proba, labels=range(10)):.3f}"
    )


if __name__ == "__main__":
    main()
