"""Save, load, pickle and compare results, and draw them into existing axes.

The program writes only into a temporary folder. `keep.txt` contains its output.
"""

import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from matplotlib.figure import Figure

import lasthop as lh

HOTSPOT = Path(__file__).with_name("hotspot.toml")
SHORT = {"duration": "20 s", "warmup": "5 s"}


def simulated(scenario: lh.Scenario) -> lh.Result:
    """Simulate a scenario in another process. Scenario and result are passed as pickles."""
    return lh.simulate(scenario, replications=2, series="0.5 s", jobs=1)


def main() -> None:
    """Simulate two scenarios in two processes, save the results in folders, load and compare
    them.
    """
    as_it_is = lh.Scenario(HOTSPOT, SHORT)
    scenarios = {"as it is": as_it_is, "longer queue": as_it_is.with_("cell.ap_queue", 200)}
    with ProcessPoolExecutor(2) as pool:
        results = dict(zip(scenarios, pool.map(simulated, scenarios.values()), strict=True))
    with tempfile.TemporaryDirectory() as folder:
        for name, result in results.items():
            result.save(Path(folder, name))
        again = {name: lh.load(Path(folder, name)) for name in results}
        figure = Figure(figsize=(7, 3), layout="constrained")
        for axes, (name, loaded) in zip(figure.subplots(1, 2), again.items(), strict=True):
            assert isinstance(loaded, lh.Result)  # a folder may also contain a sweep
            loaded.plot.queues(ax=axes)
            axes.set_title(name)
        figure.savefig(Path(folder, "queues.png"))
    for name, result in results.items():
        print(f"{name}, loaded as it was saved: {again[name] == result}\n{result}\n")
    print(f"both the same: {results['as it is'] == results['longer queue']}")


if __name__ == "__main__":
    main()
