"""Damage files of all models, and checkpoints, in all ways, and see that nothing bad comes of it.

    python tests/fuzz.py --mutants 100000

Each mutant is loaded and used by a child process with limits of memory and time, which goes on with
the next one unless it dies. It fails if loading takes more than 20 times the size of the file plus
50 MB, or if anything but a sentence or a model that works comes of it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

os.environ["OMP_NUM_THREADS"] = "1"  # a child of a process with other threads might wait for them

from checkpoint_mutants import CHECKPOINT, check_checkpoint, make_stream
from fuzzing import changed, check_file, systematic
from hostile_files import hostile_texts
from model_files import DOCUMENTS

MEGABYTE = 1 << 20
# A child may map so much more than it has, and compute so long for a mutant, before it is ended; or
# stand still so long.
MOST_MAPPED = 3 << 30
MOST_SECONDS = 30.0
MOST_WAITING = 600.0
# Loading a file of ordinary size takes no more time of the processor than this.
MOST_SECONDS_TO_LOAD = 5.0
BATCH = 100
# A line is written after so many mutants.
PROGRESS = 1000
KINDS = len(DOCUMENTS) + 1


class Outcome(NamedTuple):
    """What came of a mutant."""

    name: str
    verdict: str
    size: int
    memory: int
    seconds: float

    @property
    def failed(self) -> bool:
        """Whether it must not be."""
        return not self.verdict.startswith(("refused", "accepted"))


def text_of(number: int, seed: int) -> tuple[str, str]:
    """Name and text of a mutant: the even ones come in turn, the odd ones by chance."""
    kind, place = number // 2 % KINDS, number // 2 // KINDS
    document = CHECKPOINT.document if kind == len(DOCUMENTS) else DOCUMENTS[kind]
    chance = random.Random(f"{seed} {number}")
    # In turn, but from all over: a short run does not see the first places only.
    mutant = changed(document, chance) if number % 2 else systematic(document, place * 7919)
    return "checkpoint" if kind == len(DOCUMENTS) else "model", json.dumps(mutant)


def peak_memory() -> int:
    """Most bytes that the process has held since it was asked to forget."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def try_text(name: str, kind: str, text: str, folder: Path) -> Outcome:
    """Load and use a text within a child process."""
    path = folder / ("checkpoint.json" if kind == "checkpoint" else "model.json")
    data = text.encode(errors="surrogatepass")
    path.write_bytes(data)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before, started = peak_memory(), time.process_time()
    used: list[float] = []

    def loaded() -> None:
        used.extend((time.process_time() - started, peak_memory() - before))

    check: Callable[[Path, Callable[[], None]], str]
    check = check_checkpoint if kind == "checkpoint" else check_file
    try:
        verdict = check(path, loaded)
    except Exception:
        verdict = traceback.format_exc()
    if not used:
        loaded()
    seconds, memory = used[0], int(used[1])
    if memory > 20 * len(data) + 50 * MEGABYTE:
        verdict = f"loading took {memory / MEGABYTE:.0f} MB"
    elif seconds > MOST_SECONDS_TO_LOAD + len(data) / MEGABYTE:
        verdict = f"loading took {seconds:.1f} s"
    return Outcome(name, verdict, len(data), memory, seconds)


class Case(NamedTuple):
    """A text to try, made where it is needed."""

    name: str
    make: Callable[[], tuple[str, str]]


def run_batch(cases: list[Case]) -> Iterator[Outcome]:
    """Try cases in one child after the other; a new one where one dies."""
    while cases:
        done = 0
        for outcome in _in_child(cases):
            done += 1
            yield outcome
        if done < len(cases):
            yield Outcome(cases[done].name, "the process died, or took too long", 0, 0, 0.0)
            done += 1
        cases = cases[done:]


def _in_child(cases: list[Case]) -> Iterator[Outcome]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_child(cases, writing)
    os.close(writing)
    with os.fdopen(reading) as answers:
        while _answers(answers, child):
            line = answers.readline()
            if not line:
                break
            yield Outcome(*json.loads(line))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _answers(answers: TextIO, child: int) -> bool:
    """Wait for an answer of a child, as long as it may take for one."""
    computed, waited = _seconds_of(child), time.perf_counter()
    while not select.select([answers], [], [], 1.0)[0]:
        if _seconds_of(child) > computed + MOST_SECONDS:
            return False
        if time.perf_counter() > waited + MOST_WAITING:
            return False
    return True


def _seconds_of(process: int) -> float:
    """Return the time of the processor that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _be_child(cases: list[Case], writing: int) -> None:
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MOST_MAPPED,) * 2)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        make_stream(Path(folder))
        os.chdir(folder)
        for case in cases:
            outcome = try_text(case.name, *case.make(), Path(folder))
            os.write(writing, (json.dumps(outcome) + "\n").encode())
        os.chdir("/")
    os._exit(0)


def run(cases: list[Case], jobs: int, size: int = BATCH) -> Iterator[Outcome]:
    """Try cases in several processes side by side, so many in each child."""
    batches = [cases[first : first + size] for first in range(0, len(cases), size)]
    pipes = []
    for job in range(jobs):
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.close(reading)
            with os.fdopen(writing, "w") as answers:
                for batch in batches[job::jobs]:
                    for outcome in run_batch(batch):
                        answers.write(json.dumps(outcome) + "\n")
                        answers.flush()
            os._exit(0)
        os.close(writing)
        pipes.append(os.fdopen(reading))
    while pipes:
        for pipe in select.select(pipes, [], [])[0]:
            line = pipe.readline()
            if line:
                yield Outcome(*json.loads(line))
            else:
                pipes.remove(pipe)
    for _ in range(jobs):
        os.wait()


def shown(outcome: Outcome) -> str:
    """Return the name, the size, and what it took to load, as a line."""
    size, memory = outcome.size / MEGABYTE, outcome.memory / MEGABYTE
    share = memory / max(size, 1e-6)
    took = f"{memory:6.1f} MB ({share:4.1f} x), {outcome.seconds:.3f} s"
    return f"{outcome.name:27s} {size:6.3f} MB: {took}"


def report(outcomes: list[Outcome], title: str) -> int:
    """Print what came of all; return the number of failures."""
    failures = [outcome for outcome in outcomes if outcome.failed]
    print(f"{title}: {len(outcomes)} files, {len(failures)} failed")
    for verdict, count in Counter(o.verdict for o in outcomes if not o.failed).most_common():
        print(f"  {count:7d} {verdict}")
    allowed = max(outcomes, key=lambda o: o.memory / (20 * o.size + 50 * MEGABYTE))
    most, slowest = (max(outcomes, key=lambda o, k=key: o[k]) for key in (3, 4))
    print(f"  most memory to load: {shown(most)}")
    print(f"  most of the allowed: {shown(allowed)}")
    print(f"  longest to load:     {shown(slowest)}")
    for outcome in failures[:20]:
        print(f"FAILED {outcome.name}\n{outcome.verdict}")
    return len(failures)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=100_000, help="how many are tried")
    parser.add_argument("--hostile", type=float, default=8.0, help="megabytes of hostile files")
    parser.add_argument("--seed", type=int, default=0, help="of the mutants made by chance")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    texts = hostile_texts(int(options.hostile * MEGABYTE))
    cases = [Case(name, lambda t=text: ("model", t)) for name, text in texts.items()]
    hostile = list(run(cases, 1, 1))
    for outcome in hostile:
        print(shown(outcome))
    failed = report(hostile, "hostile files")
    cases = [
        Case(f"mutant {k}", lambda k=k: text_of(k, options.seed)) for k in range(options.mutants)
    ]
    outcomes = []
    for outcome in run(cases, options.jobs):
        outcomes.append(outcome)
        if outcome.failed or len(outcomes) % PROGRESS == 0:
            bad = sum(each.failed for each in outcomes)
            print(f"{len(outcomes)} mutants of {len(cases)}, {bad} failed", flush=True)
    failed += report(outcomes, "mutants")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"  {used.ru_utime + used.ru_stime:.0f} s of the processor")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
