"""Imports have no cycles, and follow the order of the packages.

The tests read every ``import`` of the Python package, and every ``crate::`` and ``super::`` path of
the engine. They check the imports between packages and between files. `docs/architecture.md`
describes the packages.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path

import pytest

import lasthop
from lasthop.references import named

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "lasthop"
ENGINE = ROOT / "crates" / "engine" / "src"

Graph = Mapping[str, Set[str]]

# -- cycles ------------------------------------------------------------------------------------


def circles(graph: Graph) -> list[list[str]]:
    """Return the strongly connected components with at least two nodes (Tarjan's algorithm). In
    such a component, every node is reachable from every other node.
    """
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    components: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in number:
                visit(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in stack:
                lowest[node] = min(lowest[node], number[other])
        if lowest[node] == number[node]:
            at = stack.index(node)
            members = stack[at:]
            del stack[at:]
            if len(members) > 1:
                components.append(sorted(members))

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return components


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set[str]()}
    assert circles(graph) == [["a", "b", "c"]]
    assert circles({"a": {"b", "c"}, "b": {"c"}}) == []


# -- Python ------------------------------------------------------------------------------------

FOUNDATIONS = {
    *("_core", "arguments", "errors", "extras", "numeric", "progress", "references", "scenario"),
}
"""Packages that most other packages may import: errors, checks of arguments, progress of long
steps, the checked scenario.
"""

SIMULATED = {*FOUNDATIONS, "answers", "simulation"}
"""Packages that a package may import if it simulates and reads the results."""

ENTRY_POINTS = ("cli", "__main__")
"""Packages that may import all other packages. No other package may import them."""

MAY_IMPORT: Mapping[str, Set[str]] = {
    "errors": set(),
    "numeric": set(),
    "arguments": {"errors"},
    "references": set(),
    "shell": set(),
    "extras": {"errors", "shell"},
    "linux_only": {"errors"},
    "progress": {"errors", "numeric"},
    "scenario": {"_core", "arguments", "errors", "references"},
    "channel": {"_core"},
    "control": {"_core"},
    # Models read typed values of scenarios, and never run anything.
    "stability": {"errors", "progress"},
    "answers": FOUNDATIONS,
    "models": {"answers", "errors", "extras", "numeric", "progress", "scenario", "stability"},
    "warnings": {"_core", "answers", "channel", "errors", "models", "scenario"},
    # Only `display` and `plot` show answers.
    # They import `answers`, which refers to them only by name.
    "display": {"answers", "errors", "scenario"},
    "plot": {"_core", "answers", "display", "errors", "models", "scenario", "stability", "tuning"},
    # The package `simulation` calls the engine, and calls no model.
    "simulation": {*FOUNDATIONS, "answers", "warnings"} - {"references"},
    "prediction": {*SIMULATED, "models", "warnings"},
    "learning": SIMULATED,
    "batch": SIMULATED,
    "sweep": {*SIMULATED, "batch", "warnings"},
    "whatif": {*SIMULATED, "batch"},
    "tuning": {*SIMULATED, "batch", "models"},
    "explanation": {*SIMULATED, "batch", "display", "models", "shell", "tuning"},
    # The packages `init`, `importing` and `measured` read facts about real networks.
    # They run nothing and use no model.
    "init": {"errors", "scenario"},
    "importing": {"_core", "errors", "extras", "progress", "scenario", "tuning"},
    "measured": {"answers", "errors", "scenario"},
    "comparison": {
        *SIMULATED,
        "display",
        "emulated",
        "emulation",
        "linux_only",
        "measured",
        "models",
        "prediction",
        "stability",
    },
    "studies": {*SIMULATED, "batch", "comparison", "models", "plot", "prediction", "stability"},
    "workbench": {"_core", "errors", "scenario"},
    "report": {*SIMULATED, "comparison", "display", "plot", "sweep", "workbench"},
    "emulated": {"answers", "errors", "scenario", "warnings"},
    # `linux` has interfaces to the kernel of Linux.
    "linux": {"errors", "linux_only"},
    "daemon": {"errors", "linux", "linux_only", "scenario"},
    "uml": {"_core", "errors", "linux", "linux_only", "progress"},
    "relay": {"_core", "daemon", "errors", "linux", "linux_only"},
    "enforce": {"linux_only"},
    "enforce.congestion": {"errors", "linux"},
    "enforce.queue": {
        "_core",
        "daemon",
        "errors",
        "linux",
        "linux_only",
        "models",
        "scenario",
        "stability",
    },
    "enforce.gateway": {"_core", "control", "daemon", "errors", "importing", "linux", "scenario"},
    "emulation": {
        *SIMULATED,
        "emulated",
        "enforce.congestion",
        "linux",
        "linux_only",
        "relay",
        "uml",
    },
    "doctor": {
        *SIMULATED,
        "emulation",
        "enforce.congestion",
        "linux",
        "linux_only",
        "report",
        "uml",
        "workbench",
    },
    "lasthop": {
        *SIMULATED,
        "comparison",
        "doctor",
        "emulated",
        "emulation",
        "explanation",
        "linux_only",
        "models",
        "prediction",
        "relay",
        "report",
        "stability",
        "studies",
        "sweep",
        "tuning",
        "whatif",
    },
}
"""Packages that each package may import. The command line is not listed, because it may import all
packages.
"""


def modules() -> dict[str, Path]:
    """Return the files of the package, by module name."""
    files = {}
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE.parent).with_suffix("")
        files[".".join(inside.parts).removesuffix(".__init__")] = path
    return files


def imported(node: ast.AST, *, has_calls: bool, has_types: bool) -> Iterator[str]:
    """Yield imported names, including imports inside functions. If `has_types`, include imports
    that are used only for types.

    If `has_calls`, expressions are searched for calls of `import_module`. This takes long, because
    most of a tree is expressions.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not has_calls:
            continue
        is_for_types = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if is_for_types and not has_types:
            continue
        if isinstance(child, ast.Import):
            yield from (each.name for each in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"a relative import in line {child.lineno}"
            yield from (f"{child.module}.{each.name}" for each in child.names)
        elif isinstance(child, ast.Call) and ast.unparse(child.func) == "import_module":
            assert isinstance(child.args[0], ast.JoinedStr), "imported by a name made elsewhere"
            yield ast.unparse(child.args[0]).split("'")[1].split("{")[0].rstrip(".")
        yield from imported(child, has_calls=has_calls, has_types=has_types)


def is_ours(module: str) -> bool:
    """Return whether a module is in the package lasthop."""
    return module.split(".")[0] == "lasthop"


def imports(*, has_types: bool) -> dict[str, set[str]]:
    """Return, for each module of the package, the modules that it imports."""
    known = modules()
    graph: dict[str, set[str]] = {}
    for name, path in known.items():
        text = path.read_text()
        calls = "import_module" in text
        names = imported(ast.parse(text), has_calls=calls, has_types=has_types)
        ours = filter(is_ours, names)
        graph[name] = {
            each if each in known or each == "lasthop._core" else each.rpartition(".")[0]
            for each in ours
        } - {name, "lasthop", ""}
    return graph


@pytest.fixture(scope="module")
def python() -> Graph:
    """Return, for each module of the package, the modules that it imports at run time."""
    graph = imports(has_types=False)
    lazily = {*lasthop.PACKAGES.values(), *lasthop.MODULES.values()}
    graph["lasthop"] |= {f"lasthop.{module}" for module in lazily}
    return graph


def package_of(module: str) -> str:
    """Return the package or file directly below `lasthop` that contains a module. In `enforce`,
    each folder is a package.
    """
    names = module.split(".")
    return ".".join(names[1:3] if names[1:2] == ["enforce"] else names[1:2]) or module


def test_python_has_no_import_circle(python: Graph) -> None:
    assert circles(python) == []


def test_python_has_no_circle_of_types() -> None:
    graph = imports(has_types=True)
    del graph["lasthop"]  # The package `lasthop` imports all public types.
    assert circles(graph) == []


def test_every_package_of_python_is_in_the_table(python: Graph) -> None:
    assert {package_of(module) for module in python} == {*MAY_IMPORT, *ENTRY_POINTS} - {"_core"}


def test_no_package_of_python_imports_a_package_that_is_not_allowed(python: Graph) -> None:
    wrong = [
        f"{module} imports {other}"
        for module, others in python.items()
        for other in others
        if package_of(module) not in (package_of(other), *ENTRY_POINTS)
        and package_of(other) not in MAY_IMPORT[package_of(module)]
    ]
    assert wrong == []


def test_a_table_of_packages_that_may_import_has_no_circle() -> None:
    assert circles(MAY_IMPORT) == []


REFERENCE = re.compile(r"[a-z_]+(\.[a-z_]+)+:[A-Za-z_]+")
"""Pattern of a reference to an object of the package. `lasthop.references` imports such objects by
name.
"""


def references() -> Iterator[tuple[str, str]]:
    """Yield each reference in the package, with the module that contains it."""
    for module, path in modules().items():
        text = path.read_text()
        if "references import" in text or module == "lasthop.answers.kinds":
            for node in ast.walk(ast.parse(text)):
                value = node.value if isinstance(node, ast.Constant) else None
                if isinstance(value, str) and REFERENCE.fullmatch(value):
                    yield module, value


def test_every_reference_leads_to_an_object() -> None:
    pairs = list(references())
    assert len(pairs) > 30
    assert all(callable(named(reference)) for _, reference in pairs)


def test_only_objects_of_packages_that_show_and_read_are_referred_to() -> None:
    by_reference = {
        (package_of(module), reference.partition(".")[0])
        for module, reference in references()
        if module != "lasthop.answers.kinds"
    }
    assert by_reference == {("answers", "display"), ("answers", "plot"), ("scenario", "display")}


# -- Rust --------------------------------------------------------------------------------------

ORDER = (
    {"kernel", "error", "histogram", "in_c", "notation", "quantities"},
    {"control", "channel", "echo", "packet"},
    {"tcp", "mac", "queue", "app", "link"},
    {"cell", "conflict", "bottleneck"},
    {"scenario"},
    {"world", "plugin"},
    {"record", "measure", "estimate"},
    {"replication", "live", "pcapng", "result"},
    {"run", "session"},
)
"""Packages of the engine in layers, from the lowest to the highest. No package imports a package of
a higher layer.
"""


def packages_of_engine() -> dict[str, set[str]]:
    """Return, for each package of the engine, the packages that its code names, without tests and
    comments.
    """
    graph: dict[str, set[str]] = {}
    for path in ENGINE.rglob("*.rs"):
        inside = path.relative_to(ENGINE).with_suffix("").parts
        if inside == ("lib",) or "tests" in inside:
            continue
        module = inside[:-1] if inside[-1] == "mod" else inside
        graph.setdefault(module[0], set()).update(packages_named(path.read_text(), module))
    return {package: others & set(graph) - {package} for package, others in graph.items()}


def packages_named(text: str, module: tuple[str, ...]) -> Iterator[str]:
    """Return the first name of each path in the text that begins at the crate root. Such a path
    begins with `crate::`, or with as many `super::` as the depth of the module.
    """
    code = re.sub(r"//.*", "", text.partition("#[cfg(test)]\nmod ")[0])
    for supers, names in re.findall(r"\b(crate|super(?:::super)*)::(\w+|\{[^;]*\})", code):
        up = supers.count("super")
        if supers == "crate" or up == len(module):
            yield from first_names(names)


def first_names(names: str) -> Iterator[str]:
    """Return the first names of the paths in a list `{a::b, c::{d, e}}`, or of a single path."""
    if not names.startswith("{"):
        yield names
        return
    depth, name = 0, ""
    for letter in names[1:]:
        if letter in ",}" and depth == 0:
            yield re.split(r"::|\s", name.strip())[0]
            name = ""
            continue
        depth += (letter == "{") - (letter == "}")
        name += letter


def going_up(graph: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the imports from a package of a higher layer."""
    level = {package: at for at, packages in enumerate(ORDER) for package in packages}
    return {
        f"{package} -> {other}"
        for package, others in graph.items()
        for other in others
        if level[other] > level[package]
    }


def test_paths_of_rust_are_read() -> None:
    text = """
use crate::kernel::time::Span; // and crate::comment
use crate::{queue::{red::Red, Queue}, tcp};
use super::super::mac::Cell;
use super::inside;
fn f() -> crate::link::Link {}
#[cfg(test)]
mod tests { use crate::scenario::parse; }
"""
    assert set(packages_named(text, ("world", "flow"))) == {"kernel", "queue", "tcp", "mac", "link"}


def test_every_package_of_the_engine_is_in_the_table() -> None:
    assert set(packages_of_engine()) <= set().union(*ORDER)


def test_no_package_of_the_engine_imports_a_package_above_it() -> None:
    assert going_up(packages_of_engine()) == set()


def test_packages_of_the_engine_have_no_circle() -> None:
    assert circles(packages_of_engine()) == []


# -- files of the engine -----------------------------------------------------------------------

Module = tuple[str, ...]
"""Names of a module below the crate root, from the outermost. The crate root is an empty tuple."""

USE = re.compile(r"\b(pub\s+)?use\s+([^;]+);")
NAMED = re.compile(r"\b(?:crate|self|super)(?:::\w+)+")


def paths_of(tree: str) -> Iterator[str]:
    """Yield the paths of a use tree such as `a::{b, c::{d as e}}`. A renamed path has its original
    name.
    """
    head, brace, rest = tree.partition("{")
    if not brace:
        yield re.split(r"\s+as\s+", tree.strip())[0]
        return
    depth, part = 0, ""
    for letter in rest[: rest.rindex("}")] + ",":
        if letter == "," and depth == 0:
            if part.strip():
                yield from (head.strip() + path for path in paths_of(part))
            part = ""
            continue
        depth += (letter == "{") - (letter == "}")
        part += letter


class EngineFiles:
    """The files of a crate by module, and the files that each file uses."""

    def __init__(self, texts: Mapping[Module, str]) -> None:
        self.uses: dict[Module, list[Module]] = {}
        self.exports: dict[Module, dict[str, Module]] = {}
        for module, text in texts.items():
            code = re.sub(r"//.*", "", text.partition("#[cfg(test)]\nmod ")[0])
            code = re.sub(r"\bpub\([^)]*\)", "pub", code)
            self.uses[module], self.exports[module] = [], {}
            for public, tree in USE.findall(code):
                for path in paths_of(tree):
                    target = self.absolute(module, path, texts)
                    if target and public:
                        self.exports[module][target[-1]] = target
                    elif target:
                        self.uses[module].append(target)
            inline = (
                self.absolute(module, path, texts) for path in NAMED.findall(USE.sub("", code))
            )
            self.uses[module] += filter(None, inline)

    @staticmethod
    def absolute(module: Module, path: str, texts: Iterable[Module]) -> Module | None:
        """Convert a path in the code of `module` to a path from the crate root. Return None if the
        path belongs to another crate.
        """
        names = path.removesuffix("::self").split("::")
        if names[0] == "crate":
            return tuple(names[1:])
        if names[0] not in ("self", "super"):
            return (*module, *names) if (*module, names[0]) in texts else None
        while names and names[0] in ("self", "super"):
            module = module[:-1] if names.pop(0) == "super" else module
        return (*module, *names)

    def file_of(self, path: Module, followed: Set[Module] = frozenset()) -> Module:
        """Return the file that defines an item. Re-exports are followed."""
        size = next(size for size in range(len(path), -1, -1) if path[:size] in self.uses)
        module, item = path[:size], path[size : size + 1]
        target = self.exports[module].get(item[0]) if item else None
        if target is None or target in followed:
            return module
        return self.file_of((*target, *path[size + 1 :]), {*followed, target})

    def graph(self) -> dict[str, set[str]]:
        """Return, for each file, the files that it uses."""
        return {
            "/".join(module): {"/".join(self.file_of(path)) for path in paths} - {"/".join(module)}
            for module, paths in self.uses.items()
        }


def files_of_engine() -> dict[str, set[str]]:
    """Return, for each file of the engine, the files that it uses. Tests are excluded."""
    texts = {}
    for path in ENGINE.rglob("*.rs"):
        names = path.relative_to(ENGINE).with_suffix("").parts
        if "tests" not in names:
            is_folder = names[-1] in ("mod", "lib")
            texts[names[:-1] if is_folder else names] = path.read_text()
    return EngineFiles(texts).graph()


def test_a_file_that_passes_a_name_on_is_not_used() -> None:
    graph = EngineFiles(
        {
            (): "pub mod queue;",
            ("queue",): "mod red; pub use red::Red; pub use self::list::{All, limit};",
            ("queue", "red"): "use super::limit; use crate::kernel::{time::Time, Span as Length};",
            ("queue", "list"): "fn f() -> super::Red {} // crate::kernel\nuse super::other::Item;",
            ("kernel",): "pub mod time;",
            ("kernel", "time"): "#[cfg(test)]\nmod tests { use crate::queue::Red; }",
        }
    ).graph()
    assert graph == {
        "": set(),
        "queue": set(),
        "queue/red": {"queue/list", "kernel/time", "kernel"},
        "queue/list": {"queue/red", "queue"},
        "kernel": set(),
        "kernel/time": set(),
    }
    assert circles(graph) == [["queue/list", "queue/red"]]


def test_files_of_the_engine_have_no_circle() -> None:
    assert circles(files_of_engine()) == []
