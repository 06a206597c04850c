"""Writes docs/reference/cake-measured.md: the runs of `cake_kernel.py`, `cake_engine.py` and
`cake_emulated.py`, compared.

python bench/cake_page.py --keep      writes the compressed results from the stored runs
python bench/cake_page.py             writes the page from the compressed results
"""

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from cake_compared import Quantity, by_engine, by_kernel
from cake_engine import SIDE as ENGINE
from cake_engine import VARIANTS, stored
from cake_kernel import SIDE as KERNEL
from cake_points import CASES, SEEDS, Case
from equivalence import Agreement, Difference
from kernel_tcp_virtual_page import rounded
from pages import rewrite, table
from runs import OUT, Runs

from lasthop.answers.estimates import Estimate
from lasthop.errors import UserError

PAGE = Path(__file__).parent.parent / "docs/reference/cake-measured.md"
KEPT = PAGE.with_name("cake-measured.json.gz")
PARAGRAPH = "\n\n"
ANSWER = "**Answer.**"
"""First words of the paragraph that the script writes."""
COUNTED = "How many quantities are equal"
NOT_EQUAL = "Quantities that are not equal"
VALUES = "Goodput, delay and drops"
"""Titles of sections of the page."""
WORDS = {
    Agreement.EQUAL: "equal",
    Agreement.APART: "different",
    Agreement.UNDECIDED: "undecided",
}

Values = Mapping[Quantity, Sequence[float]]


@dataclass(frozen=True)
class Compared:
    """A quantity of a case, on both sides."""

    case: Case
    quantity: Quantity
    kernel: Sequence[float]
    engine: Sequence[float]

    @property
    def difference(self) -> Difference:
        """Difference of the engine from the kernel."""
        return self.quantity.compare(self.kernel, self.engine, is_paired=not self.case.tcp)


@dataclass(frozen=True)
class Results:
    """Compared quantities of all runs.

    Attributes
    ----------
    engine : str
        Hash of the engine.
    kernel, emulated : mapping
        Values of each seed, by case and quantity. `emulated` has the runs through the engine's
        queue.
    variants : mapping
        Values of the variants of the engine, by variant, case and quantity.
    """

    engine: str
    kernel: Mapping[str, Values]
    emulated: Mapping[str, Values]
    variants: Mapping[str, Mapping[str, Values]]

    @classmethod
    def of_runs(cls) -> Self:
        """Return the results of the stored runs of the newest engine."""
        kernel = Runs(OUT / "cake-kernel.jsonl").known()
        runs = stored("cake").known()
        if not runs:
            raise UserError(f"{OUT}: no runs of the engine: run bench/cake_engine.py")
        newest = list(runs.values())[-1]["engine"]
        engine = {key: run for key, run in runs.items() if run["engine"] == newest}
        seeds = {
            name: [
                seed
                for seed in SEEDS
                if case.key(KERNEL, seed) in kernel and case.key(ENGINE, seed) in engine
            ]
            for name, case in CASES.items()
        }
        theirs = {
            name: by_quantity(by_kernel, CASES[name], KERNEL, kernel, some)
            for name, some in seeds.items()
            if len(some) > 1
        }

        def ours(known: Mapping[str, Any]) -> dict[str, Values]:
            return {
                name: by_quantity(by_engine, CASES[name], ENGINE, known, seeds[name], theirs[name])
                for name in theirs
                if all(CASES[name].key(ENGINE, seed) in known for seed in seeds[name])
            }

        variants = {variant: ours(stored("cake", variant).known()) for variant in VARIANTS}
        made = {variant: values for variant, values in variants.items() if values}
        return cls(newest, theirs, ours(engine), made)

    @classmethod
    def read(cls, path: Path = KEPT) -> Self:
        """Read the compressed results."""
        tree = json.loads(gzip.decompress(path.read_bytes()))
        names = {name: Quantity(name, *bands) for name, bands in tree["quantities"].items()}

        def values(of: Mapping[str, Any]) -> dict[str, Values]:
            return {
                case: {names[name]: each for name, each in some.items()}
                for case, some in of.items()
            }

        return cls(
            tree["engine"],
            values(tree["kernel"]),
            values(tree["emulated"]),
            {variant: values(each) for variant, each in tree["variants"].items()},
        )

    def keep(self, path: Path = KEPT) -> None:
        """Write the compressed results."""

        def values(of: Mapping[str, Values]) -> dict[str, dict[str, Sequence[float]]]:
            return {
                case: {quantity.name: each for quantity, each in some.items()}
                for case, some in of.items()
            }

        tree = {
            "engine": self.engine,
            "quantities": {
                quantity.name: [quantity.band, quantity.least]
                for some in self.kernel.values()
                for quantity in some
            },
            "kernel": values(self.kernel),
            "emulated": values(self.emulated),
            "variants": {variant: values(each) for variant, each in self.variants.items()},
        }
        text = json.dumps(rounded(tree), separators=(",", ":"), sort_keys=True)
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
        print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")

    def of(self, name: str) -> list[Compared]:
        """Return the quantities of a case."""
        kernel, engine = self.kernel.get(name, {}), self.emulated.get(name, {})
        return [
            Compared(CASES[name], quantity, values, engine[quantity])
            for quantity, values in kernel.items()
            if quantity in engine
        ]

    def every(self) -> list[Compared]:
        """Return the quantities of all cases."""
        return [each for name in CASES for each in self.of(name)]


def by_quantity(
    of: Callable[[Case, Any], Mapping[Quantity, float]],
    case: Case,
    side: str,
    known: Mapping[str, Any],
    seeds: Sequence[int],
    like: Values | None = None,
) -> Values:
    """Return the values of all seeds, by quantity. The quantities are those of `like`, or otherwise
    those of the first run. A missing value is 0."""
    runs = [of(case, known[case.key(side, seed)]) for seed in seeds]
    quantities = runs[0] if like is None else like
    return {quantity: [run.get(quantity, 0.0) for run in runs] for quantity in quantities}


# -- page ---------------------------------------------------------------------------------------


def write(results: Results) -> None:
    """Write the tables and the answer of the page."""
    rewrite(
        PAGE,
        {
            COUNTED: counted(results),
            NOT_EQUAL: not_equal(results),
            VALUES: values_of(results),
        },
    )
    before, rest = PAGE.read_text().split(ANSWER, 1)
    _, after = rest.split(PARAGRAPH, 1)
    PAGE.write_text(before + answer(results) + PARAGRAPH + after)
    print(PAGE)


def answer(results: Results) -> str:
    """Return the first paragraph of the page."""
    counts = Counter(each.difference.agreement for each in results.every())
    equal, different = counts[Agreement.EQUAL], counts[Agreement.APART]
    undecided = counts[Agreement.UNDECIDED]
    return (
        f"{ANSWER} The engine is equal to Linux in {equal} of {counts.total()} quantities.\n"
        f"It is different in {different}, and {undecided} are undecided."
    )


def counted(results: Results) -> Iterator[str]:
    """Yield a row for each case, with the number of quantities per outcome."""

    def rows() -> Iterator[Sequence[str]]:
        total: Counter[Agreement] = Counter()
        for name, case in CASES.items():
            each = results.of(name)
            seeds = len(each[0].kernel) if each else 0
            counts = Counter(compared.difference.agreement for compared in each)
            total += counts
            yield [
                name,
                f"`{case.cake.words}`",
                str(seeds),
                *(str(counts[outcome]) for outcome in WORDS),
            ]
        yield ["all cases", "", "", *(str(total[outcome]) for outcome in WORDS)]

    return table(["case", "settings of `cake`", "seeds", *WORDS.values()], rows())


def not_equal(results: Results) -> Iterator[str]:
    """Yield a row for each quantity that is different or undecided."""

    def rows() -> Iterator[Sequence[str]]:
        for each in results.every():
            difference = each.difference
            if difference.agreement is Agreement.EQUAL:
                continue
            others = [other_words(results, variant, each) for variant in results.variants]
            yield [
                each.case.name,
                each.quantity.name,
                shown(each.kernel),
                shown(each.engine),
                difference.words,
                WORDS[difference.agreement],
                *others,
            ]

    return table(
        [
            *("case", "quantity", "Linux", "engine", "difference", "outcome"),
            *(f"difference, variant `{variant}`" for variant in results.variants),
        ],
        rows(),
    )


def other_words(results: Results, variant: str, each: Compared) -> str:
    """Return the difference of a variant of the engine from the kernel, as text."""
    engine = results.variants[variant].get(each.case.name, {}).get(each.quantity)
    if engine is None:
        return ""
    return each.quantity.compare(each.kernel, engine, is_paired=not each.case.tcp).words


def values_of(results: Results) -> Iterator[str]:
    """Yield a row for each case and quantity, except for arrivals."""

    def rows() -> Iterator[Sequence[str]]:
        for each in results.every():
            if not each.quantity.name.startswith("arrived"):
                yield [
                    each.case.name,
                    each.quantity.name,
                    shown(each.kernel),
                    shown(each.engine),
                    each.difference.words,
                ]

    return table(["case", "quantity", "Linux", "engine", "difference"], rows())


def shown(values: Sequence[float]) -> str:
    """Return a mean with its confidence interval, as text."""
    return Estimate.of(values).text()


def main() -> None:
    """Write the compressed results, or the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="write the compressed results")
    if parser.parse_args().keep:
        Results.of_runs().keep()
    else:
        write(Results.read())


if __name__ == "__main__":
    main()
