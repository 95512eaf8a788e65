"""IMMAX in a Lightning module, with a warm-up of the margins."""

import lightning
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from immax.datasets import long_tailed
from immax.torch import IMMAXLoss, MarginWarmup


class Digits(lightning.LightningModule):
    """A small network whose margins move away from equal ones over the first hundred steps."""

    def __init__(self, data: TensorDataset) -> None:
        super().__init__()
        self.model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        self.criterion = IMMAXLoss(dataset=data)
        self.warmup = MarginWarmup(self.criterion, steps=100)

    def training_step(self, batch: list[torch.Tensor], _: int) -> torch.Tensor:
        X, y = batch
        return self.criterion(self.model(X), y)

    def on_train_batch_end(self, *_: object) -> None:
        self.warmup.step()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.model.parameters(), lr=0.01)


def main() -> None:
    """Train for a few epochs and print the accuracy on the training data."""
    lightning.seed_everything(0, verbose=False)
    X, y = load_digits(return_X_y=True)
    keep = long_tailed(y, 10, random_state=0)
    data = TensorDataset(torch.tensor(X[keep] / 16).float(), torch.tensor(y[keep]))
    module = Digits(data)
    trainer = lightning.Trainer(
        max_epochs=12,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, DataLoader(data, batch_size=64, shuffle=True))
    with torch.no_grad():
        guess = module.criterion.predict(module.model(data.tensors[0]))
    print(f"accuracy on the training data: {(guess == data.tensors[1]).float().mean():.3f}")


if __name__ == "__main__":
    main()
