"""A network on the long-tailed digits, trained by several processes.

    torchrun --nproc-per-node 2 examples/torch_distributed.py

Every process trains on its part of each batch. ``group="world"`` makes the mean of the loss one
over all processes, and ``class_counts(…, group=…)`` adds up the counts of their parts.
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
from torch_plain import data

from immax.torch import IMMAXLoss, class_counts


def main() -> None:
    """Train for a few epochs and print the accuracy on the test data."""
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    rank = dist.get_rank()
    X, X_test, y, y_test = data()
    counts = class_counts(y[rank :: dist.get_world_size()], 10, group=dist.group.WORLD)
    criterion = IMMAXLoss(counts, group="world")
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    model = DistributedDataParallel(network)
    train = TensorDataset(X, y)
    sampler = DistributedSampler(train, seed=0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for epoch in range(10):
        sampler.set_epoch(epoch)
        for inputs, labels in DataLoader(train, batch_size=32, sampler=sampler):
            optimizer.zero_grad()
            criterion(model(inputs), labels).backward()
            optimizer.step()
    if rank == 0:
        with torch.no_grad():
            guess = criterion.predict(network(X_test))
        print(f"{dist.get_world_size()} processes, class counts {counts.tolist()}")
        print(f"accuracy on the test data: {(guess == y_test).float().mean():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
