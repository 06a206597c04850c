"""Base classes of the results of commands, such as simulations, predictions and comparisons."""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from lasthop.answers.estimates import Estimate
from lasthop.answers.heading import Heading
from lasthop.answers.kinds import kind_named
from lasthop.answers.once import once
from lasthop.answers.plots import AnswerPlots, Plots
from lasthop.answers.quantities import check_list
from lasthop.answers.record import lacking
from lasthop.answers.summary import estimates_in, items_in
from lasthop.answers.tables import data_frame
from lasthop.references import named
from lasthop.scenario.from_json import read_as
from lasthop.scenario.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

    from lasthop.display.page import Page

__all__ = ["Answer", "Shown", "flat_row"]

A = TypeVar("A", bound="Answer")


class Shown:
    """Base class of all results that can be shown as text and as a page of a notebook. For each
    kind of result, `KINDS` names the functions that print, show and draw the result.
    """

    kind: ClassVar[str]
    """Name of the kind of result in `KINDS`."""

    has_scenario = True
    """Whether the result includes its scenario."""

    def __repr__(self) -> str:
        return str(named(kind_named(self.kind).text)(self))

    def _repr_html_(self) -> str:
        return self.page().html()

    def page(self) -> "Page":
        """Return title, tables, notes and picture, which notebooks and reports show."""
        function = kind_named(self.kind).page or "display.page:text_page"
        page: Page = named(function)(self)
        return page

    @property
    def plot(self) -> Plots:
        """Picture of the result, which a call such as ``a.plot()`` draws."""
        return Plots(self)

    def single_answers(self) -> "Iterator[tuple[Answer, Answer | None]]":
        """Yield pairs: the result for one scenario, and the prediction for the same scenario.

        The second item of a pair is None if there is no prediction. This base class yields nothing.
        """
        return iter(())


class _List(once["pd.DataFrame"]):
    """Cached property that returns one list of the result, such as ``flows``, as a data frame. The
    property has the name of the list.
    """

    def __init__(self, doc: str) -> None:
        def table(answer: "Answer") -> "pd.DataFrame":
            return answer.table(str(self.attrname))

        super().__init__(table)
        self.__doc__ = doc


class Answer(Shown):
    """Result of a model or a simulation for a scenario.

    Tables are pandas data frames indexed by name. Each quantity has a column, with its unit in the
    name (``goodput_bps``), and a column for the half width of its 95 % confidence interval over
    replications (``goodput_bps_ci95``; NaN with fewer than two replications). A prediction has no
    intervals.

    A result can be pickled and copied. Two results are equal if they are of the same kind and
    their JSON is the same; null equals null.

    Parameters
    ----------
    summary : mapping
        The result object of ``--json``.
    scenario : Scenario or None
        Scenario of the result; None if the result was loaded without its scenario.
    origin : str
        File that the result was loaded from.
    why : str
        Reason why the result has no scenario.
    """

    intervals = True
    """Whether the estimates of the result have confidence intervals."""

    def __init__(
        self,
        summary: Mapping[str, Any],
        scenario: Scenario | None,
        *,
        origin: str = "",
        why: str = "",
    ) -> None:
        self.contents = summary
        """Values of the summary, for the code of lasthop, which must not change them."""
        self._scenario = scenario
        self._lacking = origin, why

    @once
    def summary(self) -> dict[str, Any]:
        """Result object of ``--json`` as a dictionary. You can change this dictionary; tables,
        files, pictures and comparisons are made from the result itself.
        """
        return self.to_dict()

    @property
    def scenario(self) -> Scenario:
        """Scenario of the result.

        Raises
        ------
        UserError
            If the result was loaded from a file that has only a summary.
        """
        if self._scenario is None:
            origin, why = self._lacking
            raise lacking(origin, "scenario", why)
        return self._scenario

    @property
    def has_scenario(self) -> bool:  # type: ignore[override]
        """Whether the result has a `scenario`; a result loaded from only a summary has none."""
        return self._scenario is not None

    @once
    def heading(self) -> Heading:
        """Scenario and runs of the result, which are read from its summary."""
        return read_as(Heading, self.contents)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Answer) or type(self) is not type(other):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._as_text())

    def __copy__(self: A) -> A:
        return self._like(self.__dict__)

    def __deepcopy__(self: A, memo: dict[int, Any]) -> A:
        return self._like(self._essence())

    def __getstate__(self) -> dict[str, Any]:
        return self._essence()

    def single_answers(self) -> "Iterator[tuple[Answer, Answer | None]]":
        """Yield one pair: this result, and None instead of a prediction."""
        yield self, None

    def _like(self: A, state: Mapping[str, Any]) -> A:
        made = type(self).__new__(type(self))
        made.__dict__.update(state)
        return made

    def _essence(self) -> dict[str, Any]:
        """Return the attributes to pickle. Cached values, such as data frames, are left out,
        because they can be computed again.
        """
        kind = type(self)
        return {
            name: value
            for name, value in self.__dict__.items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }

    def _as_text(self) -> str:
        """Return the summary as JSON text. The texts of equal summaries are equal, even if the
        summaries contain NaN.
        """
        return json.dumps(self.to_dict(), sort_keys=True)

    def _compared(self) -> tuple[str, ...]:
        """Return the texts that are compared for equality: two results are equal if these texts
        are.
        """
        return (self._as_text(),)

    flows = _List("One row per transport flow.")
    stations = _List("One row per station.")
    aps = _List("One row per access point.")
    queues = _List("One row per queue.")
    links = _List("One row per wired link, or per link of a CSMA network.")
    classes = _List("One row per class of wired flows, or of flows that share the AP queue.")
    cells = _List("One row per cell.")
    stability = _List(
        "One row per queue: whether its equilibrium is stable, rightmost root, period."
    )
    totals = _List("Sums over the whole run.")

    def table(self, name: str) -> "pd.DataFrame":
        """Return a list of the result as a data frame, which is empty if the result lacks the
        list.

        Raises
        ------
        UserError
            If no result has a list of this name.
        """
        if name not in self.contents:
            check_list(name)
        rows = self.rows(name)
        return data_frame(rows).set_index("name") if rows else data_frame(rows)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table as dictionaries, without pandas. Estimates have two columns,
        as in `table`.
        """
        return [flat_row(item, self.intervals) for item in items_in(self.contents, name)]

    def estimates(self, list_name: str, quantity: str) -> dict[str, Estimate]:
        """Return mean and half width of a quantity by item name, such as ``("flows", "rtt_s")``.
        Items without the quantity are left out.

        This method needs neither pandas nor the memory of a whole list.
        """
        return estimates_in(self.contents, list_name, quantity)

    @property
    def plot(self) -> AnswerPlots:
        """Pictures of the result: ``a.plot()`` draws the main picture, ``a.plot.goodput()`` the
        goodputs.
        """
        return AnswerPlots(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a new tree of dictionaries and lists, with the contents of
        `to_json`.
        """
        tree: dict[str, Any] = json.loads(self.to_json())
        return tree

    def to_json(self) -> str:
        """Return the text that the command line prints with ``--json``, byte for byte."""
        return json.dumps(self.contents, indent=2, ensure_ascii=False) + "\n"


def flat_row(item: Mapping[str, Any], intervals: bool = True) -> dict[str, Any]:
    """Return an item of a result as a table row: each estimate becomes a value and a half width."""
    row: dict[str, Any] = {}
    for key, value in item.items():
        if isinstance(value, dict) and "real" in value:
            row[key] = complex(value["real"], value["imag"])
        elif isinstance(value, dict):
            row[key] = nan if value["mean"] is None else value["mean"]
            if intervals:
                row[f"{key}_ci95"] = nan if value["ci95"] is None else value["ci95"]
        else:
            row[key] = value
    return row
