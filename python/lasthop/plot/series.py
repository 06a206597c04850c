"""Time series of one result."""

from lasthop.errors import UserError
from lasthop.plot.figure import Figure, house_style, title
from lasthop.result import Result
from lasthop.saving import registry

__all__ = ["series_figure"]

LARGEST_LEGEND = 14
"""Lines that can be told apart."""


def series_figure(result: Result, quantity: str) -> Figure:
    """One quantity over time, a line an item, in the first replication."""
    every = result.series
    chosen = every[every["quantity"] == quantity]
    if chosen.empty:
        recorded = ", ".join(sorted(every["quantity"].unique())) or "none; ask by series='0.1 s'"
        raise UserError(f"no series of {quantity}", f"recorded: {recorded}")
    unit = registry()[quantity]["unit"] if quantity in registry() else "-"
    unit, scale = ("Mb/s", 1e-6) if unit == "bit/s" else (unit, 1.0)
    with house_style(60) as figure:
        axes = figure.subplots()
        title(axes, result.summary["scenario"])
        groups = chosen.groupby("name", sort=False)
        for name, track in groups:
            axes.plot(track["time_s"], scale * track["value"], label=str(name))
        axes.set_xlabel("time [s]")
        axes.set_ylabel(f"{words(quantity)} [{unit}]")
        axes.margins(x=0)
        axes.set_ylim(bottom=0)
        if len(groups) <= LARGEST_LEGEND:
            figure.legend(loc="outside lower left", ncols=2)
    return figure


def words(quantity: str) -> str:
    """The name of a quantity without its unit: ``cwnd_packets`` is cwnd."""
    for unit in ("_packets", "_bps", "_s"):
        quantity = quantity.removesuffix(unit)
    return quantity.replace("_", " ")
