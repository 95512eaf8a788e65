"""Compiled code on the threads of PyTorch."""

import ctypes
import os
import signal
import threading
import time

import pytest
import torch

import immax.torch as it
from immax.torch import routes, threads

pytest.importorskip("numba")

C = 100


@pytest.fixture(params=["openmp", "python"])
def pool(request, monkeypatch):
    """The threads of PyTorch, and those that take their place without OpenMP."""
    if request.param == "python":
        monkeypatch.setattr(threads, "_parallel_region", lambda: None)
        monkeypatch.setattr(threads, "ENTRIES_PER_PYTHON_THREAD", 2**12)
        monkeypatch.setattr(routes, "FEW_THREADS", 4)
    elif not threads.has_openmp():
        pytest.skip("PyTorch without OpenMP")


@pytest.fixture
def set_threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def loss():
    """Return one loss for all: those that were checked are forgotten when there are many."""
    return it.IMMAXLoss(range(1, C + 1))


def loss_and_gradient(loss, seed=0):
    generator = torch.Generator().manual_seed(seed)
    logits = (3 * torch.randn(1024, C, generator=generator)).requires_grad_()
    target = torch.randint(0, C, (1024,), generator=generator)
    loss(logits[:1], target[:1])  # checks the margins
    found = loss(logits, target)
    assert type(found.grad_fn).__name__ == "_CompiledMeanBackward"
    found.backward()
    return found.item(), logits.grad


def test_any_number_of_threads_gives_the_same_bits(pool, set_threads, loss):
    set_threads(1)
    expected, gradient = loss_and_gradient(loss)
    for number in (2, 3, 4):
        set_threads(number)
        for _ in range(20):
            found, its_gradient = loss_and_gradient(loss)
            assert found == expected
            assert torch.equal(its_gradient, gradient)


def test_as_many_threads_run_as_pytorch_uses(monkeypatch, set_threads):
    from immax.compiled.softmax_means import MeanJob

    asked = []

    def region(_function, _job, number, _flags):
        asked.append(number)

    class Worker:
        address = 0
        ctypes = staticmethod(lambda _: asked.append(1))

    monkeypatch.setattr(threads, "_parallel_region", lambda: region)
    set_threads(2)
    for n_entries in (1, 2**12, 2**13, 2**20):
        threads.run_together(Worker, MeanJob(1, 2, 0, 0, 0, 0), n_entries)
    set_threads(1)
    threads.run_together(Worker, MeanJob(1, 2, 0, 0, 0, 0), 2**20)
    assert asked == [1, 1, 2, 2, 1]


def test_threads_of_python_may_compute_losses_at_the_same_time(pool, set_threads, loss):
    set_threads(2)
    expected = [loss_and_gradient(loss, seed)[0] for seed in range(4)]
    found = [set() for _ in range(4)]

    def work(seed):
        for _ in range(30):
            found[seed].add(loss_and_gradient(loss, seed)[0])

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [{value} for value in expected]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without forks")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12: has threads
def test_a_fork_does_not_wait_for_threads_that_it_lacks(set_threads, loss):
    set_threads(2)
    expected, _ = loss_and_gradient(loss)
    generator = torch.Generator().manual_seed(0)
    logits = (3 * torch.randn(1024, C, generator=generator)).requires_grad_()
    target = torch.randint(0, C, (1024,), generator=generator)
    loss(logits[:1], target[:1])
    child = os.fork()
    if child == 0:
        os._exit(0 if loss(logits, target).item() == expected else 1)
    end = time.monotonic() + 20
    done, status = 0, 0
    while not done and time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    if not done:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert done, "the fork hangs"
    assert status == 0


def test_builds_without_openmp_are_told_by_their_libraries(monkeypatch):
    threads._parallel_region.cache_clear()
    monkeypatch.setattr(threads._C, "__file__", ctypes.__file__)  # not a library at all
    assert not threads.has_openmp()
    threads._parallel_region.cache_clear()
