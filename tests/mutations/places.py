"""Find the code of studies in which faults are placed: code that measures, and code that makes
scenarios.

A study passes its scenarios (`points`) and its measures (`measure`) as arguments to `Study`. From
these arguments, every name within the studies is followed: functions, constants, methods. Code that
is reachable from `points` is called settings. Code that is reachable only from `measure` is called
measures.
"""

import ast
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path

STUDIES = "python/lasthop/studies"


class Module:
    """A Python file."""

    def __init__(self, root: Path, file: str) -> None:
        self.file = file
        self.text = (root / file).read_text("utf-8")
        self.lines = self.text.splitlines()
        self.tree = ast.parse(self.text)

    @cached_property
    def dump(self) -> str:
        """Return the syntax tree as text."""
        return ast.dump(self.tree)

    @property
    def name(self) -> str:
        """Return the name of the module."""
        return self.file.removeprefix("python/").removesuffix(".py").replace("/", ".")

    @property
    def package(self) -> str:
        """Return the name of the module's package."""
        return self.name.rpartition(".")[0]

    def code(self) -> list[ast.AST]:
        """Return the statements of the file, without imports."""
        return [
            node for node in self.tree.body if not isinstance(node, ast.Import | ast.ImportFrom)
        ]

    @cached_property
    def imported(self) -> dict[str, str]:
        """Return the names that the file imports, each with its complete path."""
        return {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    @cached_property
    def modules(self) -> set[str]:
        """Return the names of study modules that the file imports."""
        prefix = STUDIES.removeprefix("python/").replace("/", ".") + "."
        return {
            name
            for name, path in self.imported.items()
            if path.startswith(prefix) and path.count(".") == 3 and name.islower()
        }

    @cached_property
    def constants(self) -> dict[str, object]:
        """Return the constants of the file with literal values."""
        values = {}
        for name, node in self.definitions.items():
            value = getattr(node, "value", None)
            if name.isupper() and isinstance(node, ast.Assign) and value is not None:
                try:
                    values[name] = ast.literal_eval(value)
                except ValueError:
                    continue
        return values

    @cached_property
    def definitions(self) -> dict[str, ast.AST]:
        """Return the definitions of the file, by name."""
        return definitions(self.tree.body)

    @cached_property
    def methods(self) -> dict[str, list[ast.AST]]:
        """Return the methods of the file's classes, by name."""
        by_name: dict[str, list[ast.AST]] = {}
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef):
                for name, method in definitions(node.body).items():
                    by_name.setdefault(name, []).append(method)
        return by_name


def definitions(body: Iterable[ast.stmt]) -> dict[str, ast.AST]:
    """Return the definitions in a list of statements, by name."""
    by_name: dict[str, ast.AST] = {}
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                by_name[name] = node
            case ast.Assign(targets=targets):
                names = (child for target in targets for child in ast.walk(target))
                by_name |= {child.id: node for child in names if isinstance(child, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                by_name[name] = node
    return by_name


@cache
def places_in(root: Path) -> "Places":
    """Return the code of the studies in a source tree. The files are read only once."""
    return Places(root)


Place = tuple[Module, ast.AST, dict[str, ast.AST]]
"""Node of a file's syntax tree, with the definitions that are visible to the node."""


class Places:
    """The code of all studies in a tree."""

    def __init__(self, root: Path) -> None:
        files = sorted((root / STUDIES).glob("*/*.py"))
        modules = [Module(root, str(file.relative_to(root))) for file in files]
        self.modules = {module.name: module for module in modules}
        self._by_argument: dict[str, list[Place]] = {}

    def settings(self) -> list[tuple[Module, list[ast.AST]]]:
        """Return the code that makes the scenarios of studies (`points`), by file."""
        return self._by_file(self._reached("points"))

    def measures(self) -> list[tuple[Module, list[ast.AST]]]:
        """Return the code that measures, by file. Code that also makes scenarios is left out."""
        settings = {id(node) for _, node, _ in self._reached("points")}
        mine = [place for place in self._reached("measure") if id(place[1]) not in settings]
        return self._by_file(mine)

    def _by_file(self, places: Sequence[Place]) -> list[tuple[Module, list[ast.AST]]]:
        by_file: dict[str, list[ast.AST]] = {}
        for module, node, _ in places:
            by_file.setdefault(module.name, []).append(node)
        return [(self.modules[name], nodes) for name, nodes in sorted(by_file.items())]

    def _reached(self, argument: str) -> list[Place]:
        """Return all code that is reachable from an argument (`points` or `measure`) of any
        study.
        """
        if argument not in self._by_argument:
            waiting = list(self._roots(argument))
            seen: dict[int, Place] = {}
            while waiting:
                place = waiting.pop()
                if id(place[1]) not in seen:
                    seen[id(place[1])] = place
                    waiting += self._named(place)
            self._by_argument[argument] = list(seen.values())
        return self._by_argument[argument]

    def _roots(self, argument: str) -> Iterable[Place]:
        for module in self.modules.values():
            for top in module.tree.body:
                inside = definitions(top.body) if isinstance(top, ast.FunctionDef) else {}
                for node in ast.walk(top):
                    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Study":
                        for keyword in node.keywords:
                            if keyword.arg == argument:
                                yield module, keyword.value, inside

    def _named(self, place: Place) -> Iterable[Place]:
        """Return the definitions to which the names in a node refer."""
        module, top, inside = place
        for node in ast.walk(top):
            match node:
                case ast.Name(id=name, ctx=ast.Load()) if name in inside:
                    yield module, inside[name], inside
                case ast.Name(id=name, ctx=ast.Load()):
                    yield from self._known(module, name)
                case ast.Attribute(value=ast.Name(id=alias), attr=name) if alias in module.modules:
                    other = self.modules.get(module.imported[alias])
                    if other is not None:
                        yield from self._known(other, name)
                case ast.Attribute(attr=name):
                    for other in self.modules.values():
                        if other.package == module.package:
                            for method in other.methods.get(name, ()):
                                yield other, method, {}

    def _known(self, module: Module, name: str) -> Iterable[Place]:
        if name in module.definitions:
            node = module.definitions[name]
            if not isinstance(node, ast.ClassDef):
                yield module, node, {}
        elif name in module.imported:
            path, _, last = module.imported[name].rpartition(".")
            if path in self.modules:
                yield from self._known(self.modules[path], last)
