"""`lasthop stability`: one file per command."""

from collections.abc import Callable

from lasthop.cli.stability.chart import chart
from lasthop.cli.stability.cycle import cycle
from lasthop.cli.stability.equilibrium import equilibrium
from lasthop.cli.stability.hopf import hopf
from lasthop.cli.stability.integrate import integrate
from lasthop.cli.stability.models import models
from lasthop.cli.stability.normal_form import normal_form
from lasthop.cli.stability.roots import roots

__all__ = ["COMMANDS"]

COMMANDS: dict[Callable[..., None], str] = {
    models: "List models, the papers' cases, and parameters.",
    equilibrium: "Find the equilibrium and whether it is stable.",
    roots: "Find the rightmost characteristic roots.",
    hopf: "Find where stability is lost.",
    normal_form: "Distinguish small from sudden oscillations.",
    cycle: "Follow the oscillation from a Hopf point.",
    integrate: "Integrate the fluid model over time.",
    chart: "Draw the stable region of two parameters.",
}
"""Functions of the group's commands, with one-line descriptions."""
