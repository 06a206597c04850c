"""Phase effects: the queues for which a warning is printed, and the effect of the recommended
setting.
"""

import pytest

import lasthop as lh
from lasthop.studies.red import router
from lasthop.warnings.phase_effects import phase_locks

TIMES = 'duration = "20 s"\nwarmup = "4 s"\nreplications = 3\n'
TCP = 'tcp = { congestion = "compound", window = 1000, delayed_ack = false }\n'

LOT = (
    f"{TIMES}{TCP}queue = 15\n"
    'parking_lot = { bottleneck = "20 Mbps", flows = 10, cross = 10, rtt = "20 ms", '
    'access = "8.3 Mbps", access_spread = 0.01 }\n'
)
HOSTS = (
    f"{TIMES}{TCP}queue = 60\n"
    'dumbbell = { bottleneck = "20 Mbps", flows = 12, rtt = "20 ms", access = "20 Mbps" }\n'
)
FIFO = (
    f'{TIMES}[cell]\nphy = "802.11g"\nap_queue = 100\n'
    '[station.near]\nudp_down = "20 Mbps"\n[station.far]\nudp_down = "20 Mbps"\n'
)
LOSSES = TIMES + (
    '[link.way]\nfrom = "a"\nto = "b"\nrate = "40 Mbps"\nloss = { every = 100 }\n'
    '[flow.one]\nfrom = "a"\nto = "b"\nudp = "5 Mbps"\n'
    '[flow.two]\nfrom = "a"\nto = "b"\nudp = "5 Mbps"\n'
)
WIRE = (
    f'{TIMES}wire = {{ rate = "10 Mbps", queue = 30 }}\ncell = {{ phy = "802.11g" }}\n'
    '[station.near]\nudp_up = "8 Mbps"\n[station.far]\nudp_up = "8 Mbps"\n'
)
CSMA = (
    f"{TIMES}csma.link.l = {{}}\n"
    'flow.near = { route = ["l"], udp = { rate = "4 Mbps", packet = "1000 B" } }\n'
    'flow.far = { route = ["l"], udp = { rate = "4 Mbps", packet = "1000 B" } }\n'
)
SERVERS = (
    f"{TIMES}"
    'link.x = { from = "s", to = "n", rate = "20 Mbps", delay = "1 ms", queue = 20 }\n'
    'link.z = { from = "t", to = "n", rate = "1 Gbps", delay = "1 ms" }\n'
    'wire = { rate = "20 Mbps", queue = 20 }\ncell = { phy = "802.11g", node = "n" }\n'
    'station.near.download = { connections = 2, server = "s" }\n'
    'station.far.download = { connections = 2, server = "t" }\n'
)


def locked(text: str, settings: dict[str, object] | None = None) -> list[str]:
    """Return the warnings about phase effects that are printed before a simulation."""
    return phase_locks(lh.Scenario(text, settings or {}).typed)


def test_a_link_that_feeds_a_queue_of_its_own_rate_causes_a_warning() -> None:
    [warning] = locked(LOT)
    assert warning.startswith("queue bottleneck-2 (drop-tail): phase lock: the link before has the")
    assert "same rate, 20 Mb/s" in warning
    assert "rate_spread" in warning
    three = {"parking_lot.hops": 3}
    [warning] = locked(LOT, three)
    assert warning.startswith("queues bottleneck-2, bottleneck-3 (drop-tail): phase lock")


@pytest.mark.parametrize(
    "settings",
    [
        {"parking_lot.rate_spread": 0.003},
        {"queue": {"red": {"min_th": 5, "max_th": 15}}},
        {"queue": {"fq_codel": {}}},
        {"queue": 30_000},  # longer than the sum of all windows
        {"parking_lot.cross": 0},  # no flows enter at the second queue
    ],
    ids=str,
)
def test_queues_that_cannot_lock_cause_no_warning(settings: dict[str, object]) -> None:
    assert locked(LOT, settings) == []


@pytest.mark.parametrize(
    ("first", "expected"),
    [("40 Mbps", "exactly 2 times"), ("10 Mbps", "exactly 1/2 times"), ("20 Mbps", "the same")],
)
def test_whole_multiples_of_the_rate_lock_too(first: str, expected: str) -> None:
    lot = (
        f'{TIMES}link.x = {{ from = "a", to = "b", rate = "{first}", delay = "5 ms" }}\n'
        'link.y = { from = "b", to = "c", rate = "20 Mbps", delay = "5 ms", queue = 20 }\n'
        'flow.through = { count = 3, from = "a", to = "c" }\n'
        'flow.cross = { count = 3, from = "b", to = "c" }\n'
    )
    [warning] = locked(lot)
    assert warning.startswith("queue y (drop-tail)")
    assert expected in warning
    other = lot.replace('rate = "20 Mbps", delay = "5 ms", queue', 'rate = "20.06 Mbps", queue')
    assert other != lot
    assert locked(other) == []


def test_unequal_rates_undo_the_lock_of_two_links() -> None:
    def lost(spread: float) -> float:
        """Return the loss of the flows that enter at the second threshold queue of paper 004's
        parking lot.
        """
        lot = router.parking_lot(10, router.POLICIES["threshold"], rate_spread=spread)
        lot["parking_lot"]["start_spread"] = "1 s"
        times = {"duration": "30 s", "warmup": "10 s", "replications": 3}
        return float(lh.simulate({**lot, **times}).classes.loc["second", "loss_probability"])

    # In study red-fig19, the loss is 3.6 % if the links have equal rates.
    # The loss is 2.9 % if the rates differ.
    assert lost(0.0) > 1.15 * lost(0.003)


def test_access_links_whose_rate_divides_that_of_the_queue_lock() -> None:
    [warning] = locked(HOSTS)
    assert "several flows have access links of 20 Mb/s, and the queue's rate is the same" in warning
    [warning] = locked(HOSTS, {"dumbbell.access": "4 Mbps"})
    assert "exactly 5 times that" in warning
    for cure in (
        {"dumbbell.jitter": "packet"},
        {"dumbbell.access": "19 Mbps"},
        {"dumbbell.access": "40 Mbps"},
        {"dumbbell.access": "1 Mbps"},  # The sum is less than the bottleneck's rate.
        {"dumbbell.access": "4 Mbps", "dumbbell.access_spread": 0.02},
    ):
        assert locked(HOSTS, cure) == [], cure
    locked_run = lh.simulate(HOSTS)
    # One of twelve flows gets the complete capacity.
    assert locked_run.classes.loc["flow", "jain"] == pytest.approx(1 / 12, abs=0.01)
    assert any("phase lock" in text for text in locked_run.warnings)
    free = lh.simulate(HOSTS, settings={"dumbbell.jitter": "packet"})
    assert free.classes.loc["flow", "jain"] > 0.95
    assert not any("phase lock" in text for text in free.warnings)


@pytest.mark.parametrize(
    ("text", "queue"), [(FIFO, "queue ap (drop-tail)"), (WIRE, "queue wire/up (drop-tail)")]
)
def test_constant_sources_that_overload_a_fifo_cause_a_warning(text: str, queue: str) -> None:
    [warning] = locked(text)
    assert warning.startswith(f"{queue}: phase lock: 2 constant-rate UDP flows")
    assert 'set arrivals = "poisson"' in warning
    assert any(warning == line for line in lh.simulate(text).warnings)
    way = "udp_up" if text == WIRE else "udp_down"
    rate = "8 Mbps" if text == WIRE else "20 Mbps"
    poisson = {
        f"station.{name}.{way}": {"rate": rate, "arrivals": "poisson"} for name in ("near", "far")
    }
    assert locked(text, poisson) == []
    little = {f"station.{name}.{way}": "2 Mbps" for name in ("near", "far")}
    assert locked(text, little) == []
    # The rates have a ratio of 13 to 20, so that the phases of the sources change.
    # Therefore no warning is printed.
    assert locked(text, {f"station.far.{way}": "13 Mbps" if text == FIFO else "5.2 Mbps"}) == []


def test_poisson_arrivals_undo_the_lock_of_constant_sources() -> None:
    def spread(arrivals: str) -> float:
        udp = {"rate": "20 Mbps", "arrivals": arrivals}
        settings = {"station.near.udp_down": udp, "station.far.udp_down": udp}
        near = lh.simulate(FIFO, settings=settings).sample_tree["stations"]["near"]["goodput_bps"]
        return (max(near) - min(near)) / 15e6  # relative to half of the cell's goodput

    assert spread("constant") > 0.2
    assert spread("poisson") < 0.05


def test_constant_sources_that_overload_a_csma_link_cause_a_warning() -> None:
    [warning] = locked(CSMA)
    assert warning.startswith(
        "queue l (drop-tail): phase lock: 2 constant-rate UDP flows (near, far)"
    )
    assert locked(CSMA, {f"flow.{name}.udp.rate": "1 Mbps" for name in ("near", "far")}) == []


def test_the_wire_of_a_cell_after_a_link_of_its_rate_causes_a_warning() -> None:
    [warning] = locked(SERVERS)
    assert warning.startswith(
        "queue wire/down (drop-tail): phase lock: the link before has the same"
    )
    assert locked(SERVERS, {"wire.rate": "20.06 Mbps"}) == []


def test_periodic_losses_of_alternating_sources_cause_a_warning() -> None:
    [warning] = locked(LOSSES)
    assert warning.startswith("link way: phase lock: one of every 100 packets is lost")
    assert "repeat their order every 2 packets" in warning
    assert "All losses are of the same flow" in warning
    assert locked(LOSSES, {"link.way.loss": {"every": 99}}) == []
    assert locked(LOSSES, {"flow.two.udp": "10 Mbps"}) == []
    losses = lh.simulate(LOSSES).sample_tree["flows"]
    each = zip(losses["one"]["loss_probability"], losses["two"]["loss_probability"], strict=True)
    for pair in each:  # One of the two sources loses all packets.
        assert sorted(pair) == pytest.approx([0.0, 0.02], abs=1e-3)


def test_periodic_losses_of_four_sources_affect_two_of_them() -> None:
    more = LOSSES + "".join(
        f'[flow.{name}]\nfrom = "a"\nto = "b"\nudp = "5 Mbps"\n' for name in ("three", "four")
    )
    [warning] = locked(more, {"link.way.loss": {"every": 98}})
    assert "repeat their order every 4 packets. All losses are at 2 of these 4 positions" in warning
    losses = lh.simulate(more, settings={"link.way.loss": {"every": 98}}).sample_tree["flows"]
    each = (losses[name]["loss_probability"] for name in ("one", "two", "three", "four"))
    for values in zip(*each, strict=True):
        assert sorted(values) == pytest.approx([0.0, 0.0, 2 / 98, 2 / 98], abs=1e-3)


def test_a_busy_queue_with_other_traffic_causes_no_warning() -> None:
    mixed = FIFO + "[station.third]\ndownload = 2\n"
    low = {f"station.{name}.udp_down": "64 kbps" for name in ("near", "far")}
    assert locked(mixed, low) == []
    assert not any("phase lock" in text for text in lh.simulate(mixed, settings=low).warnings)


def full(queue: str, rate: str = "8 Mbps") -> str:
    """Return a scenario with two equal sources that overload a link of 10 Mb/s with this queue."""
    flow = f'from = "x"\nto = "y"\nudp = "{rate}"\n'
    return (
        f'{TIMES}[link.l]\nfrom = "x"\nto = "y"\nrate = "10 Mbps"\nqueue = {{ {queue} }}\n'
        f"[flow.a]\n{flow}[flow.b]\n{flow}"
    )


RED = "red = { min_th = 5, max_th = 15 }"


@pytest.mark.parametrize(
    "queue",
    [
        f"limit = 20, {RED}",
        "limit = 20, pi = { target = 10 }",
        "limit = 20, proportional = { slope = 0.01 }",
        "limit = 20, pie = {}",
    ],
)
def test_random_drops_that_leave_the_overload_to_the_limit_cause_a_warning(queue: str) -> None:
    [warning] = locked(full(queue))
    kind = warning.removeprefix("queue l (").partition(")")[0]
    assert f"overload it, {kind} drops less than the overload" in warning
    run = lh.simulate(full(queue))
    assert warning in run.warnings
    own = run.sample_tree["flows"]["a"]["goodput_bps"]
    assert max(own) - min(own) > 1e6  # Without a phase effect the difference is below 0.2 Mb/s.


@pytest.mark.parametrize(
    "queue",
    [
        f"limit = 100, {RED}",
        "limit = 20, red = { min_th = 5, max_th = 15, form = 'published', gentle = true }",
        "limit = 100, pi = { target = 10, a = 1e-3, b = 9e-4 }",
        "limit = 60, proportional = { slope = 0.01 }",
        "limit = 200, pie = {}",
        "limit = 100, dualpi2 = {}",
        "limit = 20, fq_codel = {}",
    ],
)
def test_random_drops_of_the_complete_overload_cause_no_warning(queue: str) -> None:
    assert locked(full(queue)) == []
    run = lh.simulate(full(queue))
    assert not any("phase lock" in text for text in run.warnings)
    flows = run.sample_tree["flows"]
    for a, b in zip(flows["a"]["goodput_bps"], flows["b"]["goodput_bps"], strict=True):
        assert a == pytest.approx(b, rel=0.1)


def test_red_that_hardly_drops_causes_a_warning_at_any_limit() -> None:
    assert locked(full(f"limit = 100, {RED}", "12 Mbps")) != []
    assert locked(full("limit = 100, red = { min_th = 5, max_th = 15, wait = false }")) == []
