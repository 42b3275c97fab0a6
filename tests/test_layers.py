"""The package as a tree of files."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "lessnaive"
MODULES = {
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): file
    for file in PACKAGE.rglob("*.py")
}


def drawn_layers() -> list[str]:
    """The layers that docs/development.rst shows, from top to bottom."""
    page = (ROOT / "docs" / "development.rst").read_text("utf-8")
    section = page[page.index("\nLayers\n") : page.index("A row of a table travels")]
    return re.findall(r"^``([\w/]+)``  ", section, re.M)


def layer(module: str) -> str:
    """The layer of a module: its folder, or its own name if it is not in a folder."""
    if module not in MODULES:
        return module.removeprefix("lessnaive.")  # the core
    folder = MODULES[module].parent.relative_to(PACKAGE).as_posix()
    return folder if folder != "." else module.removeprefix("lessnaive.")


def imports(module: str) -> Iterator[str]:
    """The modules of the package that a module imports, wherever in its file."""
    for node in ast.walk(ast.parse(MODULES[module].read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            here = (*MODULES, "lessnaive._core")
            names = [name if name in here else str(node.module) for name in whole]
        else:
            continue
        yield from (name for name in names if name.partition(".")[0] == "lessnaive")


def test_the_drawing_of_the_layers_is_the_tree():
    core = ROOT / "src" / "core"
    folders = [folder for folder in PACKAGE.rglob("*") if any(folder.glob("*.py"))]
    tree = {folder.relative_to(PACKAGE).as_posix() for folder in folders}
    tree |= {file.stem for file in PACKAGE.glob("*.py") if file.stem != "__init__"}
    tree |= {f"core/{file.parent.relative_to(core).as_posix()}" for file in core.rglob("*.hpp")}
    drawn = drawn_layers()
    assert sorted(drawn) == sorted({*tree, "lessnaive", "_core"})


def test_imports_point_down():
    order = {name: place for place, name in enumerate(drawn_layers())}
    for module in MODULES:
        for other in imports(module):
            gathers = MODULES[module].name == "__init__.py" and other.startswith(f"{module}.")
            alike = layer(module) == layer(other)
            down = order[layer(module)] < order[layer(other)]
            assert gathers or alike or down, f"{module} imports {other}, which is above it"


def test_imports_have_no_cycles():
    graph = {module: set(imports(module)) for module in MODULES}
    list(TopologicalSorter(graph).static_order())  # raises CycleError


def test_functions_that_are_compiled_twice_throw_nothing():
    """An exception would not get past the choice between the two: the process would end."""
    bodies = []
    for file in (ROOT / "src" / "core").rglob("*.[ch]pp"):
        if file.name != "simd.hpp":
            pattern = r"LESSNAIVE_WIDE[^;{]*\{(.*?)\n\}"
            found = re.findall(pattern, file.read_text(encoding="utf-8"), re.DOTALL)
            bodies += [(file.name, body) for body in found]
    assert len(bodies) > 30
    throws = r"poll\(|throw |std::vector<[^>]*> \w|resize|push_back|\bnew "
    assert not [name for name, body in bodies if re.search(throws, body)]


def test_includes_of_the_core_point_down():
    core = ROOT / "src" / "core"
    order = {name: place for place, name in enumerate(drawn_layers())}
    for file in core.rglob("*.[ch]pp"):
        for other in re.findall(r'^#include "(\w+)/', file.read_text("utf-8"), re.M):
            down = order[f"core/{file.parent.name}"] <= order[f"core/{other}"]
            assert down, f"{file.name} includes a header of {other}, which is above it"


def test_private_names_of_sklearn_stand_in_one_file():
    """Names with an underscore may change in any version of scikit-learn."""
    private = re.compile(
        r"_fit_context|_param_validation|_validate_params|_get_param_names"
        r"|(from|import) sklearn[.\w]*\._\w"
        r"|from sklearn[.\w]* import ([^()\n]*|\([^)]*)\b_\w"
    )
    folders = [PACKAGE, *(ROOT / name for name in ("benchmarks", "examples", "reproduce"))]
    files = [file for folder in folders for file in folder.rglob("*.py")]
    found = [file.name for file in files if private.search(file.read_text("utf-8"))]
    assert found == ["_sklearn.py"]


def test_tests_import_names_that_are_there():
    """A test file that cannot be imported may pass for one without tests: names are looked up."""
    missing = []
    for file in [*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").glob("*.py")]:
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("lessnaive"):
                names = [alias.name for alias in node.names]
                gone = [name for name in names if not _is_there(str(node.module), name)]
                missing += [f"{file.name}: {name}" for name in gone]
    assert not missing


def _is_there(module: str, name: str) -> bool:
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        return not str(error.name).startswith("lessnaive")  # an extra that is not installed
    if hasattr(found, name):
        return True
    is_folder = hasattr(found, "__path__")
    return is_folder and importlib.util.find_spec(f"{module}.{name}") is not None
