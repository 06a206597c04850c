import ast
import importlib
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import lasthop

ROOT = Path(__file__).parents[2]
HEAVY = ("pandas", "scipy", "matplotlib", "pyarrow", "numpy")
SHORT = ["--replications", "2", "--set", "duration=2 s", "--set", "warmup=1 s"]


def loaded_after(statement: str, names: Sequence[str] = HEAVY) -> set[str]:
    code = f"import sys\n{statement}\nprint(*[m for m in {names} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_import_loads_no_heavy_package() -> None:
    names = (*HEAVY, "lasthop._core", *{f"lasthop.{name}" for name in lasthop.MODULES.values()})
    assert loaded_after("import lasthop", names) == set()


def test_help_loads_no_heavy_package() -> None:
    assert loaded_after("import lasthop.cli; lasthop.cli.main(['--help'])") & set(HEAVY) == set()


def test_a_gateways_command_loads_no_heavy_package() -> None:
    start = "from lasthop.cli import main; main(['gateway', 'status', '/dev/null'])"
    assert loaded_after(start) == set()


def test_a_build_without_optional_parts_has_no_network_code() -> None:
    tree = ["cargo", "tree", "--locked", "--edges", "normal", "--prefix", "none"]
    package = ["--package", "lasthop-python"]

    def dependencies(*options: str) -> set[str]:
        run = subprocess.run(
            [*tree, *package, *options], cwd=ROOT, capture_output=True, text=True, check=True
        )
        return {line.split()[0] for line in run.stdout.splitlines()}

    optional = {"lasthop-emulator", "lasthop-enforce", "lasthop-relay"}
    network = {"tokio", "socket2", "snow", "chacha20poly1305", "nix", "rustix", "mio"}
    assert optional | network <= dependencies()
    assert not (optional | network) & dependencies("--no-default-features")


LIGHT = (
    [
        ["schema"],
        ["--help"],
        ["simulate", "--help"],
        ["init", "new.toml", "--yes"],
        ["explain", "a1"],
    ]
    + [["check", str(path)] for path in sorted((ROOT / "examples").glob("*.toml"))]
    + [["simulate", f"{ROOT}/examples/hotspot.toml", *SHORT], ["check", "no-such-file"]]
    + [["simulate", f"{ROOT}/examples/csma.toml", "--json", "--tails", *SHORT]]
    + [["import", "iw", f"{ROOT}/tests/samples/iw/ath10k-client.txt"]]
    + [["import", "hostapd", f"{ROOT}/tests/samples/hostapd/balena-open-ap.conf"]]
    + [["import", "openwrt", f"{ROOT}/tests/samples/openwrt/arduino-yun"]]
)
"""Commands that do not require the packages for numerics and pictures."""


def test_light_commands_load_no_heavy_package(tmp_path: Path) -> None:
    code = f"""
import contextlib, io, os, sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {HEAVY}:
            raise ModuleNotFoundError(f"there is no {{name}} here")
sys.meta_path.insert(0, Missing())
os.chdir({str(tmp_path)!r})
from lasthop.cli import main
for args in {LIGHT}:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = main(args)
    assert code == (2 if "no-such-file" in args else 0), (args, output.getvalue())
print(*[m for m in {HEAVY} if m in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.split(), run.stderr) == (0, [], "")


TABLES = ("pandas", "pyarrow", "matplotlib")
"""Packages for tables and pictures."""

WITHOUT_TABLES = {
    "lh.simulate": f"""
import lasthop as lh
result = lh.simulate(
    "{ROOT}/examples/hotspot.toml", settings={{"duration": "2 s", "warmup": "1 s"}}, replications=2
)
result.warnings, result.notes, result.summary["flows"], result.to_json(), result.sample_tree
""",
    "simulate": ["simulate", f"{ROOT}/examples/hotspot.toml", *SHORT],
    "predict": ["predict", f"{ROOT}/examples/hotspot.toml"],
    "check": ["check", f"{ROOT}/examples/hotspot.toml"],
    "explain": ["explain", f"{ROOT}/examples/two-rates.toml", *SHORT[2:]],
}


@pytest.mark.parametrize("name", WITHOUT_TABLES)
def test_tables_and_pictures_are_imported_on_request(name: str) -> None:
    does = WITHOUT_TABLES[name]
    code = does if isinstance(does, str) else f"from lasthop.cli import main; main({does})"
    program = f"{code}\nprint()\nprint('imported:', *[m for m in {TABLES} if m in sys.modules])"
    argv = [sys.executable, "-c", f"import sys\n{program}"]
    run = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "imported:"


def test_every_public_name_exists() -> None:
    assert all(hasattr(lasthop, name) for name in lasthop.__all__)
    assert {*lasthop.MODULES, *lasthop.PACKAGES, "__version__"} >= set(lasthop.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'frobnicate'"):
        lasthop.frobnicate  # noqa: B018


NAMED_LIKE_MODULES = [name for name, module in lasthop.MODULES.items() if name == module]


@pytest.mark.parametrize("name", NAMED_LIKE_MODULES)
def test_a_function_keeps_its_name_after_its_module_is_imported(name: str) -> None:
    module = importlib.import_module(f"lasthop.{name}")
    setattr(lasthop, name, module)  # an import of the module has this effect
    assert getattr(lasthop, name) is getattr(module, name)
    assert callable(getattr(lasthop, name))
    assert pickle.loads(pickle.dumps(getattr(lasthop, name))) is getattr(module, name)


def test_completion_offers_only_public_names() -> None:
    import lasthop.simulation.result
    import lasthop.warnings.settings

    offered = {name for name in dir(lasthop) if not name.startswith("__")}
    packages = {"allowance", "models", "relay", "stability", "studies"}
    assert offered == {*lasthop.__all__, *packages} - {"__version__"}
    assert all(hasattr(lasthop, name) for name in offered)
    assert lasthop.warnings.settings is not None  # The module can still be imported by name.


def test_modules_named_in_the_documentation_exist() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst")]
    named = {
        name.removesuffix(".")
        for page in pages
        for name in re.findall(r"\b(?:lasthop|lh)((?:\.[A-Za-z_]\w*)+)", page.read_text("utf-8"))
    }
    assert {".models.vbs", ".stability", ".simulate"} <= named
    missing = [name for name in sorted(named) if not is_there(name.split(".")[1:])]
    assert missing == []


FILES = {"toml", "md", "lasthop", "abi3", "conf"}
"""File extensions. In a text such as `x.toml`, the name after the dot is not a Python name."""


def is_there(steps: list[str]) -> bool:
    """Return whether nested names such as `a.b.c` lead from the package to an object."""
    if steps[0] in FILES:
        return True
    node = importlib.import_module("lasthop")
    path = "lasthop"
    for step in steps:
        path = f"{path}.{step}"
        if not hasattr(node, step):
            try:
                importlib.import_module(path)
            except ImportError:
                return False
        node = getattr(node, step)
    return True


def test_emulate_and_reproduce_are_verbs_of_the_package(tmp_path: Path) -> None:
    import lasthop as lh

    with pytest.raises(lh.UserError, match="neither a subject nor a claim"):
        lh.reproduce(["xyzzy"], directory=tmp_path)
    # The claim is decided by models, without a simulation.
    answer = lh.reproduce(["acsma-16"], directory=tmp_path)
    assert [each.claim.id for each in answer.results] == ["acsma-16"]
    with pytest.raises(lh.UserError, match="webs"):
        lh.emulate({"duration": "1 s", "webs": {}})


def test_a_module_of_the_package_is_an_attribute() -> None:
    assert lasthop.errors.UserError is lasthop.UserError


def test_a_function_that_is_replaced_in_its_module_is_restored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = lasthop.simulate
    with monkeypatch.context() as patch:
        patch.setattr("lasthop.simulation.simulate.simulate", print)
        assert lasthop.simulate is print
    assert lasthop.simulate is real


def test_no_message_names_a_file_that_is_not_installed() -> None:
    """A wheel contains neither the sources of the documentation nor the examples nor the tests."""
    sources = ROOT / "python/lasthop"
    not_installed = re.compile(r"\b(docs|examples|tests|bench)/\w|\w\.md\b")
    texts = {path: path.read_text("utf-8") for path in sorted(sources.rglob("*.py"))}
    places = [
        f"{path.relative_to(sources)}:{node.lineno}: {node.value}"
        for path, text in texts.items()
        if not_installed.search(text)  # parsing the other files would take seconds
        for node in messages(ast.parse(text))
        if not_installed.search(str(node.value))
    ]
    assert places == []


def messages(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield all string constants, except for documentation strings."""
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in statements
        ):
            yield node
