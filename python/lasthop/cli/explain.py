"""`lasthop explain`."""

from typing import Annotated

import typer

from lasthop.cli.explain_term import print_names, print_term
from lasthop.cli.options import Json
from lasthop.errors import UserError


def explain(
    term: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TERM",
            help="Term of the glossary, quantity, key, assumption or claim, such as Jain, a1 or "
            "acsma-4.",
            show_default=False,
        ),
    ] = None,
    terms: Annotated[bool, typer.Option("--terms", help="List the names of all terms.")] = False,
    as_json: Json = False,
) -> None:
    """Explain a term, a quantity, a key, an assumption of a model or a claim of a paper.

    Capitals, hyphens and the plural make no difference. If several entries have the name, all of
    them are printed.
    """
    if terms:
        print_names(as_json=as_json)
    elif not term:
        raise UserError(
            "missing argument TERM: expected a name such as Jain, TXOP or a1",
            "`lasthop explain --terms` lists all names",
        )
    else:
        print_term(" ".join(term), as_json=as_json)
