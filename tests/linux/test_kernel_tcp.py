"""Linux's TCP under the queues of `bench/kernel_tcp.py`, in parallel: each case runs and delivers
data.

The bench measures the rates, in runs of a minute.
"""

from concurrent.futures import as_completed

import pytest
from kernel_tcp import Run, emulated, processes
from kernel_tcp_points import AS_THEY_ARE, VARIANTS, Point, points

from emulating import skip_without_rights

LENGTH_S = 5.0
SIDE_BY_SIDE = 3
NAMES = (
    "newreno, 1 of 10 ms, drop-tail 1 BDP",
    "newreno, 12 of 200 ms, drop-tail 1/4 BDP",
    "cubic, 1 of 50 ms, CoDel",
    "cubic, 12 of 10 ms, RED",
    "bbr, 1 of 50 ms, 1 BDP, 1 % lost",
    "hot-spot, cubic",
)


@pytest.fixture(autouse=True, scope="module")
def rights() -> None:
    skip_without_rights()


def test_every_kind_of_point_runs_and_delivers() -> None:
    named: dict[str, Point] = {point.name: point for point in points()}
    variants = [AS_THEY_ARE] * (len(NAMES) - 1) + [VARIANTS["no-rack-tlp"]]
    runs = [Run(named[name], variant, 1) for name, variant in zip(NAMES, variants, strict=True)]
    with processes(SIDE_BY_SIDE) as pool:
        running = {pool.submit(emulated, run, LENGTH_S): run for run in runs}
        seen = {running[ended].key: ended.result() for ended in as_completed(running)}
    for key, result in seen.items():
        print(f"{key}: {result['figures']}, {1e3 * result['late_s']:.2f} ms late")
        assert result["figures"]["goodput_bps"] > 0, key
        assert result["figures"]["queue_packets"] > 0, key
        assert max(result["track"]["mean"]) > 0, key
        # Segments of both periods are added: after a stall, the warm-up may seem to end late.
        sent = [counted["sender"].get("OutSegs", 0) for counted in result["counters"].values()]
        assert sum(sent) > 0, key
