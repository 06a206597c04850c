"""Result of a search: a setting with its gains and costs, and all settings that were tried."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from math import nan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.answers.answer import Shown
from lasthop.answers.estimates import Estimate
from lasthop.answers.fairness import judged
from lasthop.answers.saving import COLUMNS_FILE
from lasthop.answers.tables import data_frame
from lasthop.scenario.scenario import Scenario
from lasthop.simulation.simulate import simulate
from lasthop.tuning.calls import Calls
from lasthop.tuning.costs import costs
from lasthop.tuning.delays import CallDelay, Elsewhere, call_delays, elsewhere, means_of
from lasthop.tuning.hostapd import hostapd
from lasthop.tuning.measures import estimated, means, paired, sampled
from lasthop.tuning.parts import Loss, losers
from lasthop.tuning.search import Search
from lasthop.tuning.settings import Setting, fewest, toml
from lasthop.tuning.trial import Check, LeftOut, Measured, Trial
from lasthop.tuning.verdict import reason

if TYPE_CHECKING:
    import pandas as pd

    from lasthop.plot.figure import Figure, Place

HOSTAPD_FILE, PICTURE_FILE = "hostapd.conf", "tuning.png"

TUNING_FILES = (
    "tuning.json",
    "tuning.parquet",
    "tuning.csv",
    COLUMNS_FILE,
    PICTURE_FILE,
    HOSTAPD_FILE,
)
"""Files that `Tuning.save` may write."""


class Tuning(Shown):
    """Result of a search: the setting to choose, with its gains and costs.

    A tuning can be pickled and copied. Two tunings are equal if they began with the same scenario,
    have the same JSON, and confirmed settings by equal results.

    Attributes
    ----------
    base : Scenario
        Scenario with its present setting.
    objective : str
        Aim of the search.
    category : str
        Access category whose parameters were searched.
    bounds : Bounds
        Limits by which a setting may be worse than the present setting.
    calls : Calls or None
        Calls whose largest number is the objective; other quantities are then measured with one
        call. None for other objectives.
    irregular : list of str
        Observations that contradict the assumption of the search that more calls are never better
        than fewer calls.
    trials : list
        Present setting and all candidates, with their values.
    left_out : list
        Settings that were not tried or failed, with the reason.
    checks : list
        Settings that were compared with the present setting, with fresh seeds.
    """

    kind = "tuning"

    def __init__(self, search: Search) -> None:
        self.base = search.present.scenario
        self.objective = search.objective.name
        self.category = search.category
        self.bounds = search.bounds
        self.calls: Calls | None = search.calls
        self.irregular = search.irregular
        self.trials = search.trials
        self.left_out: list[LeftOut] = search.left_out
        self.checks: list[Check] = search.checks
        self._search = search

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
        """Values that decide whether two tunings are equal."""
        results = [(trial.name, trial.result) for trial in self.trials]
        return self.base, json.dumps(self.to_dict()), results

    @property
    def present(self) -> Trial:
        """Present setting of the scenario."""
        return self.trials[0]

    @cached_property
    def confirmed(self) -> list[Trial]:
        """Settings with a full simulation, ordered by their means, best first."""
        trials = [trial for trial in self.trials if trial.samples]
        aim = self._search.objective.aim
        return sorted(
            trials, key=lambda trial: -aim.worth(means(trial.samples).get(aim.quantity, nan))
        )

    @property
    def chosen(self) -> Trial:
        """Setting to use: the present setting unless another setting is recommended."""
        return self._search.recommended or self.present

    @property
    def recommended(self) -> bool:
        """Whether a setting other than the present setting is recommended.

        A recommended setting improves the aim beyond the interval of the paired differences, twice:
        with the seeds of the scenario and with fresh seeds.
        """
        return self._search.recommended is not None

    @cached_property
    def reason(self) -> str | None:
        """Reason why no other setting is recommended, as a clause; None if another setting is
        recommended.
        """
        return None if self.recommended else reason(self._search)

    @property
    def verdict(self) -> str:
        """Recommendation in one line."""
        if self.recommended:
            return f"set {self.chosen.name}"
        return f"keep the present setting: {self.reason}"

    @cached_property
    def ruled_out(self) -> dict[str, list[str]]:
        """Names of the settings that are ruled out, by the cost that rules them out."""
        results: dict[str, list[str]] = {}
        for trial in self.trials[1:]:
            if (objection := self._search.objection(trial)) is not None:
                results.setdefault(objection, []).append(trial.name)
        return results

    def objection(self, trial: Trial) -> str | None:
        """Return the reason why a setting is ruled out by its measurements; None if the setting is
        not ruled out.
        """
        return None if trial is self.present else self._search.objection(trial)

    @cached_property
    def settings(self) -> dict[str, int]:
        """Recommended values by key path; empty if no other setting is recommended."""
        return dict(self.settings_of(self.chosen))

    @property
    def toml(self) -> str:
        """Recommended values in the notation of a scenario file."""
        return toml(list(self.settings.items()))

    @property
    def scenario(self) -> Scenario:
        """Scenario with `settings` applied."""
        return Scenario(self.base, self.settings)

    @cached_property
    def hostapd(self) -> str:
        """Recommended setting as lines of hostapd.conf; empty without a recommendation."""
        return hostapd(self.chosen.scenario).text if self.recommended else ""

    @cached_property
    def as_hostapd(self) -> dict[str, Estimate]:
        """Simulated values of the chosen setting, rounded to values that hostapd can express.

        hostapd has no contention window of 0, and its TXOP limits are times.
        """
        written = [
            setting for setting in self.chosen.written if not setting[0].endswith("txop_packets")
        ]
        lines = hostapd(self.chosen.scenario).settings
        changed = Scenario(self.base, [*written, *lines])
        return estimated(sampled(simulate(changed, tails=True), self.category))

    @cached_property
    def _checked(self) -> tuple[Measured, Measured] | None:
        """Results of the present and the recommended setting with fresh seeds; None if no other
        setting is recommended.
        """
        present, chosen = self.present.checked, self.chosen.checked
        return (present, chosen) if self.recommended and present and chosen else None

    @cached_property
    def before(self) -> dict[str, Estimate]:
        """Values of the present setting with fresh seeds; empty without a recommendation."""
        return estimated(self._checked[0].samples) if self._checked else {}

    @cached_property
    def after(self) -> dict[str, Estimate]:
        """Values of the recommended setting with fresh seeds; empty if no other setting is
        recommended.
        """
        return estimated(self._checked[1].samples) if self._checked else {}

    @cached_property
    def gains(self) -> dict[str, Estimate]:
        """Differences between the recommended and the present setting by quantity; empty if no
        other setting is recommended.

        The values are means of the paired differences over replications with fresh seeds, which
        were not used for the choice.
        """
        if not self._checked:
            return {}
        theirs, ours = (each.samples for each in self._checked)
        differences = {name: paired(ours, theirs, name) for name in ours}
        return {name: result for name, result in differences.items() if result is not None}

    @cached_property
    def costs(self) -> list[str]:
        """Costs of the recommended setting: one sentence per quantity that gets worse."""
        if not self._checked:
            return []
        rates = (means_of(each.result, "flows", "goodput_bps") for each in self._checked)
        return list(costs(self.before, self.after, self.gains, *rates))

    @cached_property
    def losers(self) -> list[Loss]:
        """Stations whose goodput decreases with the recommended setting by more than the confidence
        interval.
        """
        if not self._checked:
            return []
        now, ours = (each.parts for each in self._checked)
        return list(losers(ours, now))

    @cached_property
    def elsewhere(self) -> Elsewhere | None:
        """Flow and queue with the longest delay with the present setting, if packets do not wait
        mainly in the access point's queue.

        For the objective calls, the value is given only if the packets of calls wait mainly at a
        link. For objectives other than delay and calls, the value is None. Access parameters also
        affect the queues of stations.
        """
        if self.objective not in ("delay", "calls") or self.present.result is None:
            return None
        result = elsewhere(self.present.result)
        return result if self.objective == "delay" or (result and result.is_link) else None

    def judged(self, trial: Trial) -> list[str]:
        """Return the stations between which fairness is computed with a confirmed setting."""
        return [] if trial.result is None else judged(trial.result.sample_tree["stations"])

    @cached_property
    def call_delays(self) -> list[CallDelay]:
        """Delays of the calls of the scenario file with the present setting, if the objective is
        delay.
        """
        if self.objective != "delay" or self.present.result is None:
            return []
        return call_delays(self.present.result)

    @property
    def refusal(self) -> str | None:
        """Reason why the model could not predict the present setting; None if there is a
        prediction.
        """
        if self._search.ranks_by_model:
            return self.present.refusal
        if self.calls is not None:
            return "the model does not count calls"
        return "the model predicts equal shares of all stations for every setting"

    @cached_property
    def table(self) -> "pd.DataFrame":
        """Table with a row for each setting: values of the model, of short simulations and of full
        simulations.

        ``rtt_s`` is the mean over connections. ``worst_fairness_level`` is the goodput of the best
        station divided by that of the worst station. Names of columns end in ``_predicted`` for the
        model and in ``_screened`` for a short simulation. The other columns are values of the full
        simulation, and ``_ci95`` marks the half width of an interval.
        """
        return data_frame(self._rows()).set_index("name")

    def _rows(self) -> list[dict[str, object]]:
        rows = []
        for trial in self.trials:
            row: dict[str, object] = {"name": trial.name, "chosen": trial is self.chosen}
            for suffix, values in (("predicted", trial.predicted), ("screened", trial.screened)):
                row |= {f"{name}_{suffix}": value for name, value in (values or {}).items()}
            for name, value in estimated(trial.samples).items():
                row |= {name: value.mean, f"{name}_ci95": value.ci95}
            rows.append(row)
        return rows

    def estimates_of(self, trial: Trial) -> dict[str, Estimate]:
        """Return the estimates of a setting's full simulation; empty if there was no such
        simulation."""
        return estimated(trial.samples)

    @property
    def how_far(self) -> str:
        """Progress of the search as text."""
        screened = sum(trial.screened is not None for trial in self.trials)
        settings = "1 setting" if screened == 1 else f"{screened} settings"
        return f"{settings} screened, {len(self.confirmed)} confirmed"

    def settings_of(self, trial: Trial) -> list[Setting]:
        """Return the fewest settings that change the scenario to the scenario of `trial`."""
        return fewest(self.base, trial.scenario, trial.written)

    def figure(self, *, figure: "Place | None" = None) -> "Figure":
        """Draw goodput, delay and fairness of the confirmed settings, with a mark at the chosen
        setting.

        The picture has several panels. They are drawn into a new figure, or into a given `figure`
        or subfigure.
        """
        return self.plot(figure=figure)

    def save(self, directory: str | PathLike[str]) -> list[Path]:
        """Write ``tuning.json``, ``tuning.png``, ``hostapd.conf``, and the table (CSV, Parquet).

        If no other setting is recommended, nothing is written. A search that ended early writes
        only ``tuning.json`` and the table. Files of an earlier search that this search does not
        write are removed.
        """
        from lasthop.answers.overwrite import refuse_foreign
        from lasthop.answers.saving import text_writer, write_all
        from lasthop.answers.tables import Table, columns_of, table_writers

        refuse_foreign(Path(directory), TUNING_FILES)
        writers: dict[str, Any] = {}
        if self.recommended or not self._search.is_over:
            writers["tuning.json"] = text_writer(self.to_json())
        if self.recommended:
            writers[HOSTAPD_FILE] = text_writer(self.hostapd)
        if writers:
            table = Table("tuning", columns_of(self._rows()), lambda: self.table.reset_index())
            writers |= table_writers(Path(directory), [table])
        if self.recommended:
            writers[PICTURE_FILE] = self.figure().savefig
        paths = write_all(Path(directory), writers) if writers else []
        for name in TUNING_FILES:
            if Path(directory, name) not in paths:
                Path(directory, name).unlink(missing_ok=True)
        return paths

    def to_dict(self) -> dict[str, Any]:
        """Return the tuning as a tree of dictionaries and lists."""
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
            "format": _core.FORMAT,
            "duration_s": base.duration_s,
            "warmup_s": base.warmup_s,
            "refusal": self.refusal,
            "recommended": self.recommended,
            "verdict": self.verdict,
            "checks": [self._check(check) for check in self.checks],
            "elsewhere": None if self.elsewhere is None else self.elsewhere.to_dict(),
            "call_delays": [each.to_dict() for each in self.call_delays],
            "candidates": [self._trial(trial) for trial in self.trials],
            "chosen": {
                **self._trial(self.chosen),
                "settings": self.settings,
                "toml": self.toml,
                "hostapd": self.hostapd,
            },
            "gains": {name: value.to_dict() for name, value in self.gains.items()},
            "costs": self.costs,
            "losers": [
                {**asdict(each), "change_bps": each.change_bps.to_dict()} for each in self.losers
            ],
            "irregular": self.irregular,
            "left_out": [{"what": each.what, "why": each.why} for each in self.left_out],
            "ruled_out": [{"what": names, "why": why} for why, names in self.ruled_out.items()],
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def _check(self, check: Check) -> dict[str, Any]:
        checked = check.trial.checked
        return {
            "name": check.trial.name,
            "seed": None if checked is None else checked.result.seed,
            "replications": None if checked is None else checked.result.replications,
            "change": None if check.change is None else check.change.to_dict(),
            "improves": check.improves,
            "ruled_out": check.objection,
        }

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
