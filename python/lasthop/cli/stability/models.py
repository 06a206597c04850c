"""`lasthop stability models`."""

import typer

from lasthop.cli.options import JSON
from lasthop.cli.stability.answers import print_json
from lasthop.cli.stability.options import read_case, worded
from lasthop.cli.tables import print_table
from lasthop.extras import need


def models(
    name: str | None = typer.Argument(
        None,
        metavar="CASE",
        help="List the parameters of this model, case or scenario.",
        show_default=False,
    ),
    as_json: bool = JSON,
) -> None:
    """List models and cases of papers, or the parameters of one model or case."""
    if name is None:
        list_models(as_json)
    else:
        list_parameters(name, as_json)


def list_models(as_json: bool) -> None:
    """Print all models, and all presets, which are the cases of the papers."""
    need("lasthop stability models")
    from lasthop.stability.models import MODELS
    from lasthop.stability.presets import PRESETS

    if as_json:
        cases = {
            case: {"model": model, "settings": dict(settings), "title": title}
            for case, (model, settings, title) in PRESETS.items()
        }
        print_json({"models": {m.name: m.title for m in MODELS.values()}, "cases": cases})
        return
    print_table(["model", "description"], [[m.name, m.title] for m in MODELS.values()], names=2)
    rows = [[case, model, title] for case, (model, _, title) in PRESETS.items()]
    print_table(["case", "model", "description"], rows, names=3)


def list_parameters(name: str, as_json: bool) -> None:
    """Print all parameters of a model, with their values in a case."""
    asked = read_case(name, None)
    case = asked.case
    # Parameters that another parameter overrides, such as gamma if queue_weight is set. Their
    # effective values are printed.
    decided = [name for name, by in case.model.overrides.items() if case.values[by] != 0.0]
    counts = {name: case.decided[name] for name in decided if name in case.decided}
    values = {**case.values, **{name: float(value) for name, value in counts.items()}}
    if as_json:
        described = [
            {
                "name": each.name,
                "value": worded(values[each.name]),
                "unit": each.unit,
                "allowed": each.range,
                "meaning": each.meaning,
            }
            for each in case.model.parameters
        ]
        print_json({"model": case.model.name, "parameters": described})
        return
    for each in case.model.parameters:
        value = worded(values[each.name])
        shown = value if isinstance(value, str) else f"{value:g}"
        unit = "" if each.unit == "-" else f" {each.unit}"
        by = f", computed from {case.model.overrides[each.name]}" if each.name in decided else ""
        typer.echo(f"{each.name} = {shown}{unit}{by}\n    {each.meaning}; {each.range}")
