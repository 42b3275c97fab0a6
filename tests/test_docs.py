"""Code in the documentation and in the README runs and gives what is shown there."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import textwrap
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from lessnaive.cli import main
from lessnaive.cli.running import app  # with all commands
from lessnaive.models import registry

ROOT = Path(__file__).parents[1]
PAGES = [
    page
    for page in sorted(ROOT.glob("docs/**/*.rst"))
    if not {"_build", "_templates", "auto_examples", "generated"} & set(page.parts)
]
#: Packages that pages need, besides those that all tests need.
NEEDED = {
    "deploy": ["openpyxl", "skl2onnx", "sqlglot"],
    "deploying": ["sqlglot"],
    "river": ["river"],
    "scale": ["dask"],
}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCKS = {
    ".rst": re.compile(r"^\.\. code-block:: console\n((?:\n|[ ]+.*\n)+)", re.M),
    ".md": re.compile(r"^```console\n(.*?)^```", re.M | re.S),
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page, tmp_path, monkeypatch):
    """Python and the command line of a page share a folder, in this order."""
    for package in NEEDED.get(page.stem, []):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    # What a page adds is gone after it.
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    monkeypatch.setattr(app, "commands", dict(app.commands))
    result = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS)
    assert result.failed == 0
    run_commands(page, tmp_path)


def test_the_api_index_has_all_public_names():
    """Each name that it lists exists, and each name that users import is listed."""
    page = (ROOT / "docs" / "api" / "index.rst").read_text("utf-8")
    listed = re.findall(r"^   ([\w.]+)$", page, re.M)
    for name in listed:
        module, _, last = f"lessnaive.{name}".rpartition(".")
        extra = "river" if module == "lessnaive.river" else "onnx" if "onnx" in last else None
        if extra is not None and importlib.util.find_spec(extra) is None:
            continue
        assert hasattr(importlib.import_module(module), last), name
    for folder in ("", "solver.", "penalty.", "loss.", "plot.", "scorecard."):
        module = importlib.import_module(f"lessnaive.{folder}".rstrip("."))
        public = {f"{folder}{name}" for name in module.__all__} - {"__version__"}
        inner = {"scorecard.Scorecard", "solver.Rprop"}
        assert public - inner <= set(listed)


def test_readme(tmp_path, monkeypatch, capsys):
    """The Python of the README prints what follows it; then its commands run."""
    readme = ROOT / "README.md"
    monkeypatch.chdir(tmp_path)
    pattern = r"^```python\n(.*?)^```\n+```text\n(.*?)^```"
    blocks = re.findall(pattern, readme.read_text("utf-8"), re.M | re.S)
    assert blocks
    for code, shown in blocks:
        exec(compile(code, str(readme), "exec"), {})
        printed = capsys.readouterr().out
        assert doctest.OutputChecker().check_output(shown, printed, FLAGS), printed
    run_commands(readme, tmp_path)


def test_other_commands_name_what_is_there():
    """Commands that cannot be run here, such as make and pip, name targets, extras and files."""
    import tomllib

    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.M))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    seen = 0
    for page in [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        text = page.read_text("utf-8")
        blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
        blocks += re.findall(r"^\.\. code-block:: (?:ba)?sh\n((?:\n|[ ]+.*\n)+)", text, re.M)
        blocks += re.findall(r"``((?:make|pip|python) [^`\n]+)``", text)
        for command in "\n".join(blocks).splitlines():
            words = command.partition("#")[0].split()
            if words[:1] == ["make"]:
                assert {word for word in words[1:] if "=" not in word} <= targets, command
            elif words[:2] == ["pip", "install"] or words[1:4] == ["-m", "pip", "install"]:
                named = re.findall(r"\[([\w,]+)\]", command)
                assert set(",".join(named).split(",")) - {""} <= extras, command
            elif words[:2] == ["python", "-m"]:
                assert importlib.util.find_spec(words[2]) is not None, command
            elif words[:1] == ["python"] and len(words) > 1 and "/" in words[1]:
                assert (ROOT / words[1]).exists(), command
            else:
                continue
            seen += 1
    assert seen >= 10


def run_commands(page: Path, folder: Path) -> None:
    """Run the commands of console blocks; compare what they print, where that is shown."""
    for block in BLOCKS[page.suffix].findall(page.read_text("utf-8")):
        for session in re.split(r"^\$ ", textwrap.dedent(block), flags=re.M)[1:]:
            command, _, shown = session.partition("\n")
            while command.endswith("\\"):
                more, _, shown = shown.partition("\n")
                command = command[:-1] + more.removeprefix("> ")
            shown = shown.strip()
            printed = run(command, folder, fails=shown.startswith("lessnaive: "))
            if shown:
                alike = doctest.OutputChecker().check_output(shown, printed.strip(), FLAGS)
                assert alike, f"{page.name}: $ {command}\n{printed}"


def run(command: str, folder: Path, *, fails: bool) -> str:
    """Run a command; return what it prints, or its complaint if it is shown to fail."""
    status, printed, complaint = (
        run_in_shell(command, folder) if {"|", ">"} & set(command) else run_here(command)
    )
    assert status == (2 if fails else 0), f"$ {command}\n{complaint}"
    return complaint if fails else printed


def run_here(command: str) -> tuple[int, str, str]:
    """Run a lessnaive command without the cost of a new process."""
    program, *arguments = shlex.split(command)
    assert program == "lessnaive"
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as exit_:
        main(arguments)
    return exit_.value.code or 0, out.getvalue(), err.getvalue()


def run_in_shell(command: str, folder: Path) -> tuple[int, str, str]:
    if sys.platform == "win32":
        pytest.skip("pipes are written for a POSIX shell")
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr
