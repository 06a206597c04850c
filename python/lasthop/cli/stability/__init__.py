"""`lasthop stability`: one file a command."""

from collections.abc import Callable

from lasthop.cli.stability.chart import chart
from lasthop.cli.stability.equilibrium import equilibrium
from lasthop.cli.stability.hopf import hopf
from lasthop.cli.stability.models import models
from lasthop.cli.stability.roots import roots

__all__ = ["COMMANDS"]

COMMANDS: dict[Callable[..., None], str] = {
    models: "List models, the papers' cases, and parameters.",
    equilibrium: "Find the point of rest and whether it is stable.",
    roots: "Find the rightmost characteristic roots.",
    hopf: "Find where stability is lost.",
    chart: "Draw where it is stable over two parameters.",
}
"""Every command and its line in the list of them."""
