"""Streams in processes of their own, which are killed at one moment or another.

The processes are forked from a server that has imported everything: they start in no time.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys

from lessnaive.cli.running import run

CONTEXT = multiprocessing.get_context("forkserver") if sys.platform != "win32" else None
if CONTEXT is not None:
    CONTEXT.set_forkserver_preload(
        [
            *(
                "lessnaive.cli.running",
                "lessnaive.cli.streaming.command",
                "lessnaive.export.model_file",
            ),
            *("lessnaive.models.naive_bayes", "lessnaive.models.fractional.fractional"),
            *("lessnaive.cli.compare_command", "lessnaive.models.averaged", "stream_runs"),
        ]
    )


def start(arguments, folder, *, death=None):
    """Start the command line in a folder; return the process.

    `death` is the name of a function of os, a count, "before", "after" or "both", and a signal: the
    process sends it to itself at that call of the function.
    """
    process = CONTEXT.Process(target=_run, args=([*map(str, arguments)], str(folder), death))
    process.start()
    return process


def finish(arguments, folder, **options):
    """Run the command line in a folder to its end; return its exit status."""
    process = start(arguments, folder, **options)
    process.join()
    return process.exitcode


def _run(arguments, folder, death):
    os.chdir(folder)
    # What a command prints is kept in files, one after the other.
    log = os.open("log.txt", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    os.dup2(log, 1)
    os.dup2(log, 2)
    if death is not None:
        _die_at(*death)
    status = run(arguments)
    sys.stdout.flush()
    os._exit(status)


def _die_at(name, count, when, number=signal.SIGKILL):
    function = getattr(os, name)
    calls = 0

    def deadly(*arguments, **options):
        nonlocal calls
        calls += 1
        if calls == count and when in ("before", "both"):
            os.kill(os.getpid(), number)
        out = function(*arguments, **options)
        if calls == count and when in ("after", "both"):
            os.kill(os.getpid(), number)
        return out

    setattr(os, name, deadly)
