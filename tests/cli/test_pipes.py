"""Pipes, terminals and signals."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lessnaive
from command_line import COMMAND, PENGUINS, fitted_on, write


def test_control_characters_do_not_reach_the_terminal(well, cli):
    fitted_on(well, "x\x1b[2J,c,y\n1,\x1b[31mred,a\n2,b,b\n")
    for out in (well("show", "m.json"), well("explain", "m.json", "t.csv")):
        assert "\x1b" not in out
        assert "x\\x1b[2J" in out
    answer = cli("fit", "t.csv", "--target", "\x1b[2J", "-o", "m.json")
    assert "\x1b" not in answer.err


def test_square_brackets_are_no_markup(well):
    fitted_on(well, "[red]x[/red],c,y\n1,:smile:,a\n2,b,b\n")
    out = well("show", "m.json")
    assert "[red]x[/red]" in out
    assert ":smile:" in out


def test_a_terminal_gets_colours_and_a_pipe_does_not(well, monkeypatch):
    model = "normal.json"
    options = ("--model", "NaiveBayes", "--set", "numeric=gaussian", "-o", model)
    well("fit", PENGUINS, "--target", "species", *options)
    assert well("show", model).isascii() is False  # ±
    plain = well("show", model)
    assert "\x1b[" not in plain
    assert all(line == line.rstrip() for line in plain.splitlines())
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    coloured = well("show", model)
    assert "\x1b[1m" in coloured
    assert "╭" in coloured
    assert "█" in coloured


def test_a_narrow_pipe_folds_nothing(well, model, monkeypatch):
    wide = well("explain", model, PENGUINS)
    monkeypatch.setenv("COLUMNS", "20")
    assert well("explain", model, PENGUINS) == wide


@pytest.mark.skipif(os.name != "posix", reason="pipes of a shell")
def test_a_reader_that_stops_ends_the_command_quietly(tmp_path, model):
    lines = Path(PENGUINS).read_text().splitlines()
    write("long.csv", "\n".join([lines[0], *(lines[1:] * 100)]))
    command = shlex.join([*COMMAND, "predict", model, "long.csv"])
    done = subprocess.run(f"{command} | head -n 1", shell=True, capture_output=True, text=True)
    assert done.stdout.startswith("predicted,")
    assert done.stderr == ""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_the_command_quietly(tmp_path):
    code = (
        "import sys, lessnaive.cli.running as running\n"
        "print('ready', flush=True)\n"
        "sys.exit(running.run(['fit', '-', '--target', 'y', '-o', 'm.json']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("x,y\n1,a\n")
    process.stdin.flush()
    time.sleep(1)  # until it waits for the rest of the table
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, "", "")


def test_without_the_extra_the_remedy_is_told():
    code = (
        "import sys; sys.modules['rich'] = None; from lessnaive.cli import main; "
        "main(['show', 'm.json'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "lessnaive: the command line needs the package rich: install it with "
        "pip install 'lessnaive[cli]'\n"
    )


def test_the_installed_command(tmp_path):
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"lessnaive {lessnaive.__version__}\n"
