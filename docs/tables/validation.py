"""Tables of results for the page on validation."""

from collections.abc import Iterator

import downloads

from lasthop.answers.digits import estimate
from tables.cells import table


def seven_downloads() -> Iterator[str]:
    """Yield the table of the goodput of seven downloads, from the engine and from the Monte Carlo
    simulation.
    """
    yield from table(
        ["CWmin", "goodput, engine [Mb/s]", "goodput, Monte Carlo [Mb/s]"],
        [
            [
                f"{point['cwmin']}",
                *(
                    estimate(*(point[way][key] / 1e6 for key in ("mean_bps", "ci95_bps")))
                    for way in ("engine", "monte_carlo")
                ),
            ]
            for point in downloads.load()["points"]
        ],
    )


TABLES = {"seven-downloads": seven_downloads}
