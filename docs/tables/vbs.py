"""Tables of results for the page on Compound TCP over WiFi and virtual buffer sharing."""

from collections.abc import Iterator

import beside

from lasthop.studies.sweep import tag
from lasthop.studies.vbs import cell
from tables.cells import Values, listed, table

VBS = Values("vbs")

CLASSES = ("1", "2")
ALGORITHMS = {"vbs": "Algorithm 1", "regulated": "regulator", "partition": "partition"}


def _off(name: str) -> str:
    """Return the relative error of the model's value from the simulated mean. [%]"""
    value = VBS.of(name)
    assert value.simulated
    assert value.predicted is not None
    return f"{100.0 * (value.predicted / value.simulated - 1.0):+.1f} %"


def model() -> Iterator[str]:
    """Yield the table of the classes' goodput and the buffer's loss, from the simulation and from
    both models.
    """
    settings = [
        *((cell.ATTEMPTS, error, "", "fig13") for error in cell.ERRORS),
        *((cell.STATED_ATTEMPTS, error, "stated_", "fig11") for error in cell.ERRORS[1:]),
    ]
    rows = []
    for attempts, error, start, study in settings:
        names = [f"{start}goodput_{number}_{tag(error)}" for number in CLASSES]
        loss = f"{start}loss_{tag(error)}"
        rows.append(
            [
                f"{attempts}",
                f"{error:g}",
                listed(VBS.simulated(f"fig11.{name}") for name in names),
                listed(_off(f"fig11.{name}") for name in names),
                listed(_off(f"fig11.papers_{name}") for name in names),
                VBS.simulated(f"{study}.{loss}", 100.0),
                VBS.predicted(f"{study}.{loss}", 100.0),
                VBS.predicted(f"{study}.papers_{loss}", 100.0),
            ]
        )
    yield from table(
        [
            *("attempts", "$p_w$", "goodput of class 1, 2, simulated [Mb/s]", "error of the model"),
            *("error of the paper's model", "drops, simulated [%]", "drops, model [%]"),
            "drops, paper's model [%]",
        ],
        rows,
    )


def steady() -> Iterator[str]:
    """Yield the table of the classes' goodput and blocked packets, by algorithm, simulated and
    predicted.
    """
    rows = []
    for algorithm, words in ALGORITHMS.items():
        for error in map(tag, cell.ERRORS[1:]):
            goodputs, blocked = (
                [f"fig15.{name}_{number}_{algorithm}_{error}" for number in CLASSES]
                for name in ("goodput", "blocked")
            )
            rows.append(
                [
                    words,
                    error.replace("_", "."),
                    listed(map(VBS.simulated, goodputs)),
                    listed(map(VBS.predicted, goodputs)),
                    listed(VBS.simulated(name, 100.0) for name in blocked),
                    listed(VBS.predicted(name, 100.0) for name in blocked),
                ]
            )
    yield from table(
        [
            *("algorithm", "$p_w$", "goodput of class 1, 2, simulated [Mb/s]"),
            *("goodput, model [Mb/s]", "blocked packets of class 1, 2, simulated [%]"),
            "blocked packets, model [%]",
        ],
        rows,
    )


def controller() -> Iterator[str]:
    """Yield the table of results with Algorithm 1, the regulator and the partition."""
    ratios = [f"ratio_{phase}" for phase in (1, 2, 3)]
    rows = {
        "mean queue, target 60 [packets]": (
            ["fig14.occupancy_two_classes"],
            ["fig14.occupancy_regulated"],
            ["fig14.occupancy_partition"],
        ),
        "goodput of class 1 over class 2, p_w = 0.3": (
            ["fig15.ratio_0_3"],
            ["fig15.ratio_regulated_0_3"],
            ["fig15.ratio_partition_0_3"],
        ),
        "class ratio with 5:5, 7:5, 5:7 users, 8 attempts, target 1.11": (
            [f"fig18.{name}" for name in ratios],
            [f"fig18.regulated_{name}" for name in ratios],
            [f"fig18.partition_{name}" for name in ratios],
        ),
        **{
            f"uploads over downloads, p_w = 0.2, room for {room} packets": (
                [f"fig17.ratio_vbs_{room}"],
                [f"fig17.ratio_regulated_{room}"],
                [f"fig17.ratio_partition_{room}"],
            )
            for room in (50, 100, 150)
        },
        "blocked packets of class 1, class 2, p_w = 0.3 [%]": (
            [f"fig15.blocked_{number}_vbs_0_3" for number in CLASSES],
            [f"fig15.blocked_{number}_regulated_0_3" for number in CLASSES],
            [f"fig15.blocked_{number}_partition_0_3" for number in CLASSES],
        ),
    }
    yield from table(
        ["quantity", *ALGORITHMS.values()],
        [
            [
                words,
                *(
                    listed(VBS.simulated(name, 100.0 if "[%]" in words else 1.0) for name in names)
                    for names in both
                ),
            ]
            for words, both in rows.items()
        ],
    )


def unequal() -> Iterator[str]:
    """Yield the table of class 1's share of the queue if its target differs from its fraction of
    connections.
    """
    rows = []
    for case in beside.UNEQUAL:
        high, low, target, error = case
        names = {
            algorithm: f"unequal.{beside.of_target(algorithm, case)}" for algorithm in ALGORITHMS
        }
        seen = VBS.of(names["vbs"]).simulated
        assert seen is not None
        way = (seen - target) / (high / (high + low) - target)
        errors = f", $p_w = {error:g}$" if error else ""
        rows.append(
            [
                f"{high}:{low}, {target:g}{errors}",
                VBS.simulated(names["vbs"]),
                f"{way:.2f}",
                VBS.simulated(names["regulated"]),
                VBS.simulated(names["partition"]),
            ]
        )
    head = ["users of class 1 and 2, target $h^*$ of class 1", "Algorithm 1"]
    head += ["Algorithm 1, part of the way to the share of connections", "regulator", "partition"]
    yield from table(head, rows)


TABLES = {"unequal": unequal, "model": model, "steady": steady, "controller": controller}
