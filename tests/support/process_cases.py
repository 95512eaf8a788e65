"""What two processes compute together, and what one process computes alone."""

import os

import torch
import torch.distributed as dist

import immax.torch as it
from immax.torch.functional import immax_loss
from immax.torch.labels import labels_of

COUNTS = [60.0, 30.0, 10.0]
LABELS = torch.tensor([0, 1, 2, 0, 0, 1, -100, 2, 0, 0, 1, -100])
PARTS = (slice(0, 9), slice(9, 12))  # the ranks have 8 and 2 labels that count
SOFT = torch.linspace(0, 1, 36, dtype=torch.float64).view(12, 3).softmax(1)


def losses(group):
    """Return every kind of mean, as functions of the logits and of a part of the labels."""
    options = {"group": group, "dtype": torch.float64}
    weight = [1.0, 2.0, 5.0]
    rho = torch.tensor([1.5, 1.0, 0.5], dtype=torch.float64)
    linear = torch.eye(3, dtype=torch.float64)
    criteria = {
        "immax": it.IMMAXLoss(COUNTS, **options),
        "weighted": it.IMMAXLoss(COUNTS, weight=weight, **options),
        "unit": it.IMMAXLoss([5, 5, 5], weight=weight, **options),
        "learnable": it.IMMAXLoss(COUNTS, learnable=True, **options),
        "reweighted": it.ReweightedLoss(COUNTS, **options),
        "balanced": it.ClassBalancedLoss(COUNTS, **options),
        "focal": it.FocalLoss(gamma=2, weight=weight, **options),
        "hinge": it.IMMAXHingeLoss(COUNTS, **options),
    }
    named = {
        name: lambda h, rows, criterion=criterion: criterion(h, LABELS[rows])
        for name, criterion in criteria.items()
    }
    for name in ("immax", "unit", "reweighted"):
        named[f"soft {name}"] = lambda h, rows, name=name: criteria[name](h, SOFT[rows])
    named["linear"] = lambda h, rows: it.linear_immax_loss(
        h, linear, LABELS[rows], rho, group=group
    )
    binary = it.IMMAXBinaryLoss([9, 1], **options)
    named["binary"] = lambda h, rows: binary(h[:, 0], SOFT[rows, 0])
    named["functional"] = lambda h, rows: immax_loss(h, LABELS[rows], rho, group=group)
    return named


def logits():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(12, 3, generator=generator, dtype=torch.float64)


def alone():
    """Return value and gradient of every loss of the whole batch in one process."""
    found = {}
    for name, loss in losses(None).items():
        h = logits().requires_grad_()
        value = loss(h, slice(0, 12))
        value.backward()
        found[name] = value.detach(), h.grad
    return found


def run(rank, folder):
    """Save what a process of two computes, of all cases, so that two are started once."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    torch.set_num_threads(1)
    found = {"means": means(rank), "shards": shards(rank), "network": gradients(rank)}
    torch.save(found, f"{folder}/{rank}.pt")
    dist.barrier()  # none leaves while another still talks to it
    dist.destroy_process_group()


def means(rank):
    """Return what a process computes with its rows; DDP would average the gradients."""
    rows = PARTS[rank]
    found = {}
    for name, loss in losses("world").items():
        h = logits()[rows].requires_grad_()
        value = loss(h, rows)
        value.backward()
        found[name] = value.detach(), h.grad
    part = LABELS[rows]
    own = it.class_counts(part, ignore_index=-100)
    counts = it.class_counts(part, ignore_index=-100, group=dist.group.WORLD)
    found["counts"] = own, counts, labels_of(part).size
    return found


def gradients(rank=None):
    """Return the gradients of a linear network, of DDP for a rank, else of one process."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(64, 6, generator=generator)
    y = torch.randint(0, 3, (64,), generator=generator)
    torch.manual_seed(0)
    model = torch.nn.Linear(6, 3)
    if rank is not None:
        model = torch.nn.parallel.DistributedDataParallel(model)
    part = slice(None) if rank is None else slice(rank * 32, (rank + 1) * 32)
    it.IMMAXLoss(COUNTS)(model(x[part]), y[part]).backward()
    return [parameter.grad.clone() for parameter in model.parameters()]


def shards(rank):
    """Return what a process computes with half of the classes."""
    h, labels, rho, weight = vocabulary()
    columns = slice(4 * rank, 4 * rank + 4)
    found = {}
    for reduction in ("mean", "sum", "none"):
        for name, weights in (("plain", None), ("weighted", weight)):
            part = h[:, columns].clone().requires_grad_()
            loss = it.vocab_parallel_immax_loss(
                part, labels, rho, weight=weights, reduction=reduction
            )
            loss.sum().backward()
            found[f"{name} {reduction}"] = loss.detach(), part.grad
    part = h[:, :3].clone() if rank == 0 else h[:, 3:].clone()  # unequal numbers of classes
    found["uneven"] = it.vocab_parallel_immax_loss(part, labels, rho, first_class=3 * rank), None
    found["dtensor"] = dtensor(h[:, columns].clone().requires_grad_(), labels, rho)
    return found


def dtensor(part, labels, rho):
    """Return the loss of a distributed tensor, and this process's part of the gradient."""
    from torch.distributed.device_mesh import init_device_mesh

    try:
        from torch.distributed.tensor import DTensor, Shard
        from torch.distributed.tensor.experimental import implicit_replication
        from torch.distributed.tensor.parallel import loss_parallel
    except ImportError:  # before PyTorch 2.5, whose loss_parallel is for single precision only
        return None
    mesh = init_device_mesh("cpu", (2,))
    criterion = it.IMMAXLoss(rho=rho, dtype=torch.float64)
    with implicit_replication(), loss_parallel():
        loss = criterion(DTensor.from_local(part, mesh, [Shard(1)]), labels)
        loss.backward()
    return loss.detach().to_local(), part.grad


def vocabulary():
    """Return logits of eight classes, labels, margins and class weights."""
    generator = torch.Generator().manual_seed(0)
    h = 3 * torch.randn(6, 8, generator=generator, dtype=torch.float64)
    rho = torch.linspace(0.5, 1.5, 8, dtype=torch.float64)
    return h, torch.tensor([0, 5, 7, -100, 3, 4]), rho, torch.linspace(1, 2, 8).double()
