"""Names of quantities are equal in Python and in the workbench."""

import ast
from pathlib import Path

from lasthop.answers import names
from lasthop.answers.quantities import registry

from .test_ci import loaded

quantities = loaded(".ci/quantities.py")


def test_the_written_names_are_those_of_the_engine() -> None:
    for path, text in quantities.files().items():
        assert Path(path).read_text("utf-8") == text, f"{path}: run python .ci/quantities.py"


def test_the_constants_are_the_names_of_the_stub() -> None:
    stub = ast.parse(Path(names.__file__).with_suffix(".pyi").read_text("utf-8"))
    constants = {
        node.target.id: ast.literal_eval(node.value)
        for node in stub.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.value is not None
    }
    assert constants == {key: getattr(names, key) for key in constants}
    assert set(constants.values()) == set(registry())
