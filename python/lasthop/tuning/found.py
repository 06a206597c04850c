"""What a search found: a setting with its gains and costs, and all that was tried."""

import json
from collections.abc import Mapping
from functools import cached_property
from math import nan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.estimates import Estimate
from lasthop.run import simulate
from lasthop.scenario import Scenario
from lasthop.tuning.calls import Calls
from lasthop.tuning.costs import costs, goodputs
from lasthop.tuning.hostapd import hostapd
from lasthop.tuning.measures import estimated, means, paired, sampled
from lasthop.tuning.search import LeftOut, Search, Trial
from lasthop.tuning.settings import Setting, fewest, toml

if TYPE_CHECKING:
    import pandas as pd

    from lasthop.plot import TuningPlots
    from lasthop.plot.figure import Figure, Place

HOSTAPD_FILE, PICTURE_FILE = "hostapd.conf", "tuning.png"

TUNING_FILES = ("tuning.json", "tuning.parquet", "tuning.csv", PICTURE_FILE, HOSTAPD_FILE)
"""What `Tuning.save` may write."""


class Tuning:
    """What a search found: the setting to choose, what it gains and what it costs.

    It can be pickled and copied. Two are equal if they began with the same scenario, have the same
    JSON, and confirmed settings by equal results.

    Attributes
    ----------
    base : Scenario
        The scenario with its present setting.
    objective : str
        What it was tuned for.
    category : str
        The access category whose parameters were searched.
    bounds : Bounds
        How far a setting might be worse than the present one.
    calls : Calls or None
        What calls were counted, if they were; all other quantities are then measured with one.
    irregular : list of str
        What was not as a search for the most calls presumes: that more are never better than less.
    trials : list
        The present setting and every candidate, with what became known of it.
    left_out : list
        Settings that were not tried or came to nothing, with the reason.
    """

    def __init__(self, search: Search) -> None:
        self.base = search.present.scenario
        self.objective = search.objective.name
        self.category = search.category
        self.bounds = search.bounds
        self.calls: Calls | None = search.calls
        self.irregular = search.irregular
        self.trials = search.trials
        self.left_out: list[LeftOut] = search.left_out
        self._search = search

    def __repr__(self) -> str:
        from lasthop.display import tuning_text

        return tuning_text(self)

    def _repr_html_(self) -> str:
        from lasthop.display import tuning_html

        return tuning_html(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tuning):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((self.base, self.objective, self.category))

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.__dict__.items()
            if not isinstance(getattr(Tuning, name, None), cached_property)
        }

    def _compared(self) -> tuple[Any, ...]:
        """What must be the same of two that are equal."""
        kept = [(trial.name, trial.result) for trial in self.trials]
        return self.base, json.dumps(self.to_dict()), kept

    @property
    def present(self) -> Trial:
        """The scenario's present setting."""
        return self.trials[0]

    @cached_property
    def confirmed(self) -> list[Trial]:
        """Settings that were simulated as the scenario says, the best by their means first."""
        trials = [trial for trial in self.trials if trial.samples]
        aim = self._search.objective.aim
        return sorted(
            trials, key=lambda trial: -aim.worth(means(trial.samples).get(aim.quantity, nan))
        )

    @cached_property
    def chosen(self) -> Trial:
        """The setting to choose; the present one if none is better."""
        if not self.present.samples:
            return self.present
        return self._search.objective.choice(
            {
                trial: estimated(trial.samples)
                for trial in self.trials
                if trial.samples and self._search.objection(trial) is None
            }
        )

    @cached_property
    def ruled_out(self) -> dict[str, list[str]]:
        """Settings that are forbidden, by the cost that forbids them."""
        found: dict[str, list[str]] = {}
        for trial in self.trials[1:]:
            if (objection := self._search.objection(trial)) is not None:
                found.setdefault(objection, []).append(trial.name)
        return found

    def objection(self, trial: Trial) -> str | None:
        """Why a setting is ruled out, by what was measured of it; None if it is not."""
        return None if trial is self.present else self._search.objection(trial)

    @cached_property
    def settings(self) -> dict[str, int]:
        """What to set, by key path; empty if the present setting is best."""
        return dict(self.settings_of(self.chosen))

    @property
    def toml(self) -> str:
        """What to set, as it stands in a scenario file."""
        return toml(list(self.settings.items()))

    @property
    def scenario(self) -> Scenario:
        """The scenario with `settings` applied."""
        return Scenario(self.base, self.settings)

    @cached_property
    def hostapd(self) -> str:
        """The chosen setting as lines of hostapd.conf, those of the stations among them.

        If the search did not come to its end, the first line says so.
        """
        lines = hostapd(self.chosen.scenario).text
        return lines if self._search.is_over else f"# Search ended early: {self.how_far}\n{lines}"

    @cached_property
    def as_hostapd(self) -> dict[str, Estimate]:
        """The chosen setting simulated with what hostapd's lines can say of it.

        hostapd knows no window of 0, and TXOP limits as times only.
        """
        written = [
            setting for setting in self.chosen.written if not setting[0].endswith("txop_packets")
        ]
        lines = hostapd(self.chosen.scenario).settings
        changed = Scenario(self.base, [*written, *lines])
        return estimated(sampled(simulate(changed, tails=True), self.category))

    @cached_property
    def gains(self) -> dict[str, Estimate]:
        """Chosen less present setting, by quantity, over replications with the same seeds."""
        ours, theirs = self.chosen.samples, self.present.samples
        differences = {name: paired(ours, theirs, name) for name in ours}
        return {name: found for name, found in differences.items() if found is not None}

    @cached_property
    def costs(self) -> list[str]:
        """What the chosen setting costs, a sentence each; what does not change is left out."""
        if self.chosen is self.present or self.chosen.result is None or self.present.result is None:
            return []
        return list(
            costs(
                estimated(self.present.samples),
                estimated(self.chosen.samples),
                self.gains,
                goodputs(self.present.result.summary),
                goodputs(self.chosen.result.summary),
            )
        )

    @property
    def refusal(self) -> str | None:
        """Why the model could not rank the present setting; None if it could."""
        if self._search.ranks_by_model:
            return self.present.refusal
        if self.calls is not None:
            return "the model counts no calls"
        return "the model holds that all stations share alike, whatever the setting"

    @cached_property
    def table(self) -> "pd.DataFrame":
        """A row for each setting: predicted, screened and confirmed values.

        Quantities are those of `docs/nomenclature.md`; ``rtt_s`` is the mean over connections,
        ``worst_fairness_level`` the best station's goodput over the worst one's. Columns end in
        ``_predicted`` for the model and ``_screened`` for a short simulation; the others are of
        the simulation that confirms, ``_ci95`` the half width of its interval.
        """
        import pandas as pd

        rows = []
        for trial in self.trials:
            row: dict[str, object] = {"name": trial.name, "chosen": trial is self.chosen}
            for suffix, values in (("predicted", trial.predicted), ("screened", trial.screened)):
                row |= {f"{name}_{suffix}": value for name, value in (values or {}).items()}
            for name, value in estimated(trial.samples).items():
                row |= {name: value.mean, f"{name}_ci95": value.ci95}
            rows.append(row)
        return pd.DataFrame(rows).set_index("name")

    def estimates_of(self, trial: Trial) -> dict[str, Estimate]:
        """What the simulation that confirmed a setting measured; empty if there was none."""
        return estimated(trial.samples)

    @property
    def how_far(self) -> str:
        """How far the search came."""
        kept = sum(trial.screened is not None for trial in self.trials)
        settings = "1 setting" if kept == 1 else f"{kept} settings"
        return f"{settings} screened, {len(self.confirmed)} confirmed"

    def settings_of(self, trial: Trial) -> list[Setting]:
        """The fewest settings that make the scenario that of `trial`."""
        return fewest(self.base, trial.scenario, trial.written)

    @property
    def plot(self) -> "TuningPlots":
        """Its picture: ``t.plot()``."""
        from lasthop.plot import TuningPlots

        return TuningPlots(self)

    def figure(self, *, figure: "Place | None" = None) -> "Figure":
        """Goodput, delay and fairness of the confirmed settings, the chosen one marked.

        It has several panels, which a `figure` of yours, or a part of one, takes.
        """
        from lasthop.plot.tuning import tuning_figure

        return tuning_figure(self, figure)

    def save(self, directory: str | PathLike[str]) -> list[Path]:
        """Write ``tuning.json``, ``tuning.png``, ``hostapd.conf``, the table as Parquet and CSV.

        Without a confirmed setting there is nothing to draw or to set: picture and ``hostapd.conf``
        are left out, and those of an earlier search removed.
        """
        from lasthop.ownership import refuse_foreign
        from lasthop.saving import table_writers, text_writer, write_all

        refuse_foreign(Path(directory), TUNING_FILES)
        writers = {"tuning.json": text_writer(self.to_json())}
        if self.confirmed:
            writers[HOSTAPD_FILE] = text_writer(self.hostapd)
        writers |= table_writers("tuning", self.table.reset_index(), {})
        if self.confirmed:
            writers[PICTURE_FILE] = self.figure().savefig
        paths = write_all(Path(directory), writers)
        for name in TUNING_FILES:
            if Path(directory, name) not in paths:
                Path(directory, name).unlink(missing_ok=True)
        return paths

    def to_dict(self) -> dict[str, Any]:
        """Everything as a tree of dictionaries and lists."""
        base = self.base.typed
        return {
            "kind": "tuning",
            "scenario": base.name,
            "objective": self.objective,
            "category": self.category,
            "give_up": self.bounds.give_up,
            "min_jain": self.bounds.min_jain,
            "seed": base.seed,
            "replications": base.replications,
            "version": _core.VERSION,
            "duration_s": base.duration_s,
            "warmup_s": base.warmup_s,
            "refusal": self.refusal,
            "candidates": [self._trial(trial) for trial in self.trials],
            "chosen": {
                **self._trial(self.chosen),
                "settings": self.settings,
                "toml": self.toml,
                "hostapd": self.hostapd,
            },
            "gains": {name: value.to_dict() for name, value in self.gains.items()},
            "costs": self.costs,
            "irregular": self.irregular,
            "left_out": [{"what": each.what, "why": each.why} for each in self.left_out],
            "ruled_out": [{"what": names, "why": why} for why, names in self.ruled_out.items()],
        }

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def _trial(self, trial: Trial) -> dict[str, Any]:
        def without_interval(values: Mapping[str, float] | None) -> dict[str, Any] | None:
            if values is None:
                return None
            return {name: {"mean": value, "ci95": None} for name, value in values.items()}

        simulated = {name: value.to_dict() for name, value in estimated(trial.samples).items()}
        return {
            "name": trial.name,
            "settings": dict(trial.written),
            "predicted": without_interval(trial.predicted),
            "screened": without_interval(trial.screened),
            "simulated": simulated or None,
        }
