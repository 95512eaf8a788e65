"""Two processes that train together, started as by ``torchrun`` but without its process."""

import os
import socket
import subprocess
import sys


def run_two_processes(script, *arguments, cwd):
    """Run a script as both ranks of a group; return what rank 0 prints.

    Another process may take the port before rank 0 does, and rank 1 then waits in vain: the second
    attempt has another port.
    """
    try:
        return _run(script, arguments, cwd, timeout=100)
    except subprocess.TimeoutExpired:
        return _run(script, arguments, cwd, timeout=240)


def _run(script, arguments, cwd, timeout):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    processes = [
        subprocess.Popen(
            [sys.executable, str(script), *map(str, arguments)],
            cwd=cwd,
            env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        printed = [process.communicate(timeout=timeout) for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, (_, errors) in zip(processes, printed, strict=True):
        assert process.returncode == 0, errors
    return printed[0][0]
