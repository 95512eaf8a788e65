"""The fits of a comparison, made by this process and by others beside it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from threadpoolctl import threadpool_limits

from immax.compare.fold_cache import FoldCache, FoldResult
from immax.compare.fold_fits import FoldData, FoldFitter, FoldTask, Outcome
from immax.compare.time_limit import has_time_for
from immax.compare.worker_process import WorkerLostError, WorkerProcess, is_worker_waiting
from immax.evaluation.candidates import PLAIN

__all__ = ["FoldProgress", "FoldQueue", "OnProgress"]

MANY_FITS = 20  # for so many, other processes are started at once
SECONDS_ALONE = 1.0  # of fits, before other processes are started for fewer
SECONDS_WORTH = 4.0  # of fits that are left: fewer are not worth the start of a process


@dataclass(frozen=True)
class FoldProgress:
    """How far the fits of a comparison are.

    Attributes
    ----------
    running : tuple of str
        The methods that are being fitted.
    done, total : int
        The number of finished fits, and of all of them.
    seconds_left : float or None
        An estimate from the fits so far; None before the first one is finished.
    reading : str, default=""
        The passes over a table that is streamed, and the bytes that were read.
    """

    running: tuple[str, ...]
    done: int
    total: int
    seconds_left: float | None
    reading: str = ""


OnProgress: TypeAlias = Callable[[FoldProgress], None]


class _Fitter(Protocol):
    def attempt(self, task: FoldTask, seconds: float | None = None) -> Outcome: ...


class FoldQueue:
    """All methods on all folds, fold by fold.

    Parameters
    ----------
    data : FoldData
    methods : sequence of str
    cache : FoldCache
        Fits that it holds are not made again.
    time_limit : float, optional
        In seconds.
    on_fold, on_progress : callable, optional
        As for ``immax.compare.compare``.

    Attributes
    ----------
    results : dict of str to dict of int to FoldResult
        For each method, the results by fold.
    failed : dict of str to str
        The first line of the error of each method that failed.
    """

    def __init__(
        self,
        data: FoldData,
        methods: Sequence[str],
        cache: FoldCache,
        *,
        time_limit: float | None = None,
        on_fold: Callable[[str, int, int], None] | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self._data, self._cache = data, cache
        self._lock = threading.Condition()  # its lock may be taken again by its owner
        self._deadline = None if time_limit is None else time.monotonic() + time_limit
        self._on_fold, self._on_progress = on_fold, on_progress
        self._methods, self._start = methods, time.monotonic()
        self._waiting = deque[FoldTask]()
        self._n_folds = self._total = 0
        self._closed = False
        self._add_folds(data.protocol.planned_folds)
        self._running: list[FoldTask] = []
        self._seconds = dict.fromkeys(methods, 0.0)
        self._abandoned: set[str] = set()
        self._error: Exception | None = None
        self.results: dict[str, dict[int, FoldResult]] = {name: {} for name in methods}
        self.failed: dict[str, str] = {}

    def _add_folds(self, count: int) -> None:
        folds = range(self._n_folds, self._n_folds + count)
        with self._lock:
            self._waiting.extend(FoldTask(name, fold) for fold in folds for name in self._methods)
            self._n_folds += count
            self._total = self._n_folds * len(self._methods)
            self._lock.notify_all()

    def run(self, n_jobs: int, go_on: Callable[[int], bool] | None = None) -> None:
        """Make all fits, or as many as the time allows.

        Parameters
        ----------
        n_jobs : int
            The number of processes, this one included.
        go_on : callable, optional
            Called with the number of folds when all of them are finished. If it returns True, the
            next repeat follows, if there is one and probably enough time for it.

        Raises
        ------
        ValueError
            If plain logistic regression fails.
        """
        fitter, workers = FoldFitter(self._data), _Workers(self._data, self._work)
        try:
            with _one_thread(n_jobs > 1):
                if n_jobs > 1 and self._n_missing() >= (1 if is_worker_waiting() else MANY_FITS):
                    workers.start(n_jobs - 1)
                while True:
                    while self._is_unfinished():  # again if a process was lost
                        for _ in self._work(fitter, report=True):
                            if n_jobs > 1 and not workers and self._is_worth_more_processes():
                                workers.start(n_jobs - 1)
                        self._wait_for_others()
                    if go_on is None or not self._may_go_on() or not go_on(self._n_folds):
                        break
                    self._add_folds(self._data.protocol.folds)
        finally:
            self._close()
            workers.stop()  # also those that have not started yet
        if self._error is not None:
            raise self._error
        if self._on_fold is not None:
            self._on_fold("", self._done, self._total)

    @property
    def _done(self) -> int:
        return sum(map(len, self.results.values()))

    def _may_go_on(self) -> bool:
        """Whether there is another repeat, and time for it if it takes as long as the others."""
        folds = self._data.protocol.folds
        if self._error is not None or self._n_folds + folds > len(self._data.splits):
            return False
        return has_time_for(folds, self._n_folds, self._start, self._deadline)

    def _close(self) -> None:
        """Have the threads of other processes end, which wait for further fits."""
        with self._lock:
            self._closed = True
            self._lock.notify_all()

    def _work(self, fitter: _Fitter, *, report: bool = False, wait: bool = False) -> Iterator[None]:
        """Make one fit after the other until none is waiting, or no further one will come."""
        while (task := self._next(wait)) is not None:
            if report and self._on_fold is not None:
                self._on_fold(task.method, self._done, self._total)
            cached = self._cache.load(task.method, task.fold)
            try:
                outcome = cached or fitter.attempt(task, self._seconds_for_a_fit())
            except WorkerLostError:
                with self._lock:
                    self._running.remove(task)
                    self._waiting.appendleft(task)
                    self._lock.notify_all()
                return
            except Exception as error:
                outcome = error
            except BaseException:
                self._running.remove(task)
                raise
            if isinstance(outcome, FoldResult) and cached is None:
                self._cache.save(task.method, task.fold, outcome)
            self._record(task, outcome)
            yield

    def _n_missing(self) -> int:
        """Return the number of fits that the cache does not hold."""
        return sum(not self._cache.holds(task.method, task.fold) for task in self._waiting)

    def _is_unfinished(self) -> bool:
        return bool(self._waiting) and self._error is None and not self._time_is_over()

    def _wait_for_others(self) -> None:
        with self._lock:
            while self._running:
                self._lock.wait()

    def _next(self, wait: bool) -> FoldTask | None:
        with self._lock:
            while True:
                while self._is_unfinished():
                    task = self._take_longest()
                    if task.method not in self.failed and task.method not in self._abandoned:
                        self._running.append(task)
                        self._report()
                        return task
                if self._closed or not wait:
                    return None
                self._lock.wait()

    def _take_longest(self) -> FoldTask:
        """Return the task of the fold that will take longest, so that no process waits at the end.

        That is known from the folds before; on the first, tasks keep their order, in which plain
        logistic regression is first.
        """
        fold = self._waiting[0].fold
        known = {name: self._seconds[name] / len(own) for name, own in self.results.items() if own}
        task = max(
            (task for task in self._waiting if task.fold == fold),
            key=lambda task: known.get(task.method, 0.0) if fold else 0.0,
        )
        self._waiting.remove(task)
        return task

    def _record(self, task: FoldTask, outcome: Outcome) -> None:
        with self._lock:
            self._running.remove(task)
            if isinstance(outcome, FoldResult):
                self.results[task.method][task.fold] = outcome
                self._seconds[task.method] += outcome.seconds
            elif isinstance(outcome, TimeoutError):
                self._abandoned.add(task.method)
            elif isinstance(outcome, ValueError) and task.method != PLAIN:
                self.failed[task.method] = str(outcome).strip().partition("\n")[0]
            else:
                self._error = outcome
            self._report()
            self._lock.notify_all()

    def _report(self) -> None:
        if self._on_progress is not None:
            names = tuple(task.method for task in self._running)
            left = self._seconds_left()
            if left is not None:
                left /= max(len(names), 1)
            self._on_progress(FoldProgress(names, self._done, self._total, left))

    def _seconds_left(self) -> float | None:
        """Return the time of all fits that are left, on one core."""
        known = {name: self._seconds[name] / len(own) for name, own in self.results.items() if own}
        if not known:
            return None
        usual = sum(known.values()) / len(known)
        tasks = [*self._waiting, *self._running]
        return sum(known.get(task.method, usual) for task in tasks)

    def _is_worth_more_processes(self) -> bool:
        with self._lock:
            left = self._seconds_left()
            return (
                left is not None
                and left > SECONDS_WORTH
                and sum(self._seconds.values()) > SECONDS_ALONE
                and len(self._waiting) > 1
            )

    def _time_is_over(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline

    def _seconds_for_a_fit(self) -> float | None:
        """Return how long a fit may take: half of the time, so that others have the other half."""
        if self._deadline is None:
            return None
        left = self._deadline - time.monotonic()
        return left / 2 if self._waiting else left


class _Workers:
    """Processes beside this one, each with a thread that hands it tasks."""

    def __init__(self, data: FoldData, work: Callable[..., Iterator[None]]) -> None:
        self._data, self._work = data, work
        self._processes: list[WorkerProcess] = []
        self._threads: list[threading.Thread] = []

    def __bool__(self) -> bool:
        return bool(self._processes)

    def start(self, count: int) -> None:
        for _ in range(count):
            process = WorkerProcess(self._data)
            thread = threading.Thread(target=self._drive, args=(process,))
            self._processes.append(process)
            self._threads.append(thread)
            thread.start()

    def _drive(self, process: WorkerProcess) -> None:
        """Hand tasks to a process from when it is ready: until then, others take them."""
        with suppress(WorkerLostError):
            process.wait_until_ready()
            for _ in self._work(process, wait=True):
                pass

    def stop(self) -> None:
        for process in self._processes:
            process.stop()
        for thread in self._threads:
            thread.join()


@contextmanager
def _one_thread(limited: bool) -> Iterator[None]:
    """Give the libraries one thread, as in the other processes, so that results are the same."""
    if not limited:
        yield
        return
    with threadpool_limits(1):
        yield
