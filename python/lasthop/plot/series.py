"""Time series of one result."""

from typing import TYPE_CHECKING

from lasthop.errors import UserError, nearest
from lasthop.plot.figure import QUIET, Figure, Place, headline, house_style
from lasthop.quantities import registry

if TYPE_CHECKING:
    from lasthop.result import Result

MOST_PANELS = 12
"""Most items that are drawn; the title counts the rest."""


def series_figure(result: "Result", quantity: str, place: Place | None = None) -> Figure:
    """One quantity over time in the first replication: a panel for each item, all to one scale."""
    every = result.series
    chosen = every[every["quantity"] == quantity]
    if chosen.empty:
        if every.empty:
            raise UserError("no series were sampled", "ask for them: simulate(..., series='0.1 s')")
        known = sorted(every["quantity"].unique())
        near = ", ".join(nearest(str(quantity), known))
        raise UserError(
            f"no series of {quantity}; there are {near}", f"sampled: {', '.join(known)}"
        )
    unit = registry()[quantity]["unit"] if quantity in registry() else "-"
    unit, scale = ("Mb/s", 1e-6) if unit == "bit/s" else (unit, 1.0)
    tracks = list(chosen.groupby(["list", "name"], sort=False))
    shown = tracks[:MOST_PANELS]
    with house_style(24 + 11 * len(shown), place=place) as figure:
        rows = figure.subplots(len(shown), sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, ((_, name), track) in zip(rows, shown, strict=True):
            axes.plot(track["time_s"], scale * track["value"], linewidth=0.8)
            axes.annotate(
                str(name),
                (1.02, 0.5),
                xycoords="axes fraction",
                va="center",
                fontsize=6.5,
            )
            axes.margins(x=0)
        rows[0].set_xlim(left=0)
        rows[0].set_ylim(bottom=0)
        rows[-1].set_xlabel("time [s]")
        figure.supylabel(f"{words(quantity)} [{unit}]", fontsize=7.5)
        headline(figure, result.summary["scenario"])
        if len(tracks) > len(shown):
            rows[0].set_title(f"the first {len(shown)} of {len(tracks)}", color=QUIET, fontsize=7)
    return figure


def words(quantity: str) -> str:
    """The name of a quantity without its unit: ``cwnd_packets`` is cwnd."""
    for unit in ("_packets", "_bps", "_s"):
        quantity = quantity.removesuffix(unit)
    return quantity.replace("_", " ")
