"""CAKE in scenarios: shares of hosts, tins in results, and warnings about idle settings."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.warnings.cake import cake_warnings

EXAMPLE = Path("examples/cake.toml")

LINE = """
duration = "20 s"
warmup = "5 s"
tcp = { sack = true, window = 1000 }
link.line = { from = "home", to = "net", rate = "20 Mbps", back_rate = "100 Mbps", delay = "10 ms" }
flow.up = { from = "home", to = "net" }
"""
ROUTER = {
    "duration": "20 s",
    "dumbbell": {"bottleneck": "20 Mbps", "rtt": "40 ms", "flows": 4},
    "queue": {"cake": {}},
    "tcp": {"congestion": "newreno"},
}
ONE_WAY = LINE.replace(', back_rate = "100 Mbps"', "")


def goodputs(queue: dict[str, Any]) -> dict[str, float]:
    """Return the goodputs of the classes of the example with this queue in both directions.
    [bit/s]
    """
    settings = {"link.line.queue": queue, "link.line.back_queue": queue, "duration": "20 s"}
    result = lh.simulate(EXAMPLE, settings=settings, replications=1)
    return dict(result.classes.goodput_bps)


def test_a_host_with_one_connection_gets_half_of_the_line() -> None:
    """A single connection uses less than its share after each loss. This matters more on the
    slower uplink, which also carries the ACKs of the downloads.
    """
    shares = goodputs({"cake": {}})
    for direction, tolerance in (("up", 0.06), ("down", 0.03)):
        laptop, phone = shares[f"laptop-{direction}"], shares[f"phone-{direction}"]
        assert phone / (laptop + phone) == pytest.approx(0.5, abs=tolerance)


@pytest.mark.parametrize("queue", [{"cake": {"isolation": "flows"}}, {"fq_codel": {}}])
def test_among_flows_the_other_host_gets_a_ninth(queue: dict[str, Any]) -> None:
    shares = goodputs(queue)
    for direction in ("up", "down"):
        laptop, phone = shares[f"laptop-{direction}"], shares[f"phone-{direction}"]
        assert phone / (laptop + phone) == pytest.approx(1 / 9, abs=0.015)


def test_the_goodput_below_a_shaper_is_that_of_the_cells() -> None:
    """A segment of 1500 bytes with 40 bytes of overhead is 33 cells of 53 bytes, 1749 bytes. An
    IP packet of 1500 bytes has 1448 bytes of payload.
    """
    cake = {"bandwidth": "8 Mbps", "link_layer": "atm", "overhead": "40 B"}
    result = lh.simulate(tomllib.loads(ONE_WAY), settings={"link.line.queue": {"cake": cake}})
    payload = mss_of(result) / 1749
    assert result.flows.goodput_bps["up"] == pytest.approx(8e6 * payload, rel=0.005)


def mss_of(result: lh.Result) -> int:
    """Return the payload of a full segment. [bytes]"""
    [flow] = result.scenario.typed.tcp_flows
    assert flow.tcp.mss_bytes + flow.tcp.header_bytes == 1500
    return flow.tcp.mss_bytes


def test_results_have_a_row_for_each_tin() -> None:
    text = LINE + 'flow.voice = { from = "home", to = "net", udp = "64 kbps", dscp = "EF" }\n'
    case = tomllib.loads(text)
    tins = lh.simulate(case, settings={"link.line.queue.cake": "18 Mbps"}).table("tins")
    tins = tins.reset_index().set_index("name")
    assert list(tins.index) == ["line/best-effort", "line/bulk", "line/voice"]
    assert tins.sojourn_s["line/voice"] < 2e-3 < tins.sojourn_s["line/best-effort"]
    assert tins.bulk_flows["line/best-effort"] == pytest.approx(1, abs=0.05)
    assert tins.drop_probability["line/voice"] == 0


def test_the_ack_filter_lets_a_download_pass_a_slow_uplink() -> None:
    text = """
    duration = "20 s"
    warmup = "5 s"
    tcp = { sack = true, window = 1000 }
    flow.down = { from = "net", to = "home" }
    [link.line]
    from = "net"
    to = "home"
    rate = "60 Mbps"
    back_rate = "400 kbps"
    delay = "10 ms"
    """
    case = tomllib.loads(text)

    def download(ack_filter: str) -> tuple[float, float]:
        queue = {"cake": {"ack_filter": ack_filter, "isolation": "flows"}}
        result = lh.simulate(case, settings={"link.line.back_queue": queue})
        tins = result.table("tins").reset_index().set_index("name")
        return result.flows.goodput_bps["down"], tins.acks_filtered["line/back/best-effort"]

    off, conservative = download("off"), download("conservative")
    assert off[1] == 0 < conservative[1]
    assert conservative[0] > 1.3 * off[0]


def test_web_connections_of_a_station_are_one_host() -> None:
    """The pages of the laptop need more than the cell carries, so that many connections are open.
    They share the half of the laptop. With fairness among flows, the phone gets little.
    """

    def part_of_phone(isolation: str) -> float:
        tree = {
            "duration": "15 s",
            "warmup": "5 s",
            "cell": {"phy": "802.11g", "ap_queue": {"cake": {"isolation": isolation}}},
            "tcp": {"sack": True},
            "station": {
                "laptop": {
                    "web": {"connections": 20, "arrivals": "constant", "response": "250 kB"}
                },
                "phone": {"download": 1},
            },
        }
        goodput = lh.simulate(tree).stations.goodput_bps
        return float(goodput["phone"] / (goodput["laptop"] + goodput["phone"]))

    assert part_of_phone("dual-dsthost") == pytest.approx(0.5, abs=0.05)
    assert part_of_phone("flows") < 0.2


@pytest.mark.parametrize(
    ("queue", "warning"),
    [
        ({"bandwidth": "30 Mbps"}, "`link.line.queue`: the shaper of CAKE never delays a packet"),
        ({"ack_filter": "aggressive"}, "`link.line.queue`: ack_filter has no effect"),
        ({"nat": True}, "`link.line.queue`: nat has no effect"),
        ({"bandwidth": "18 Mbps"}, ""),
    ],
)
def test_settings_without_effect_have_a_warning(queue: dict[str, Any], warning: str) -> None:
    case = lh.Scenario(tomllib.loads(LINE), {"link.line.queue": {"cake": queue}})
    warnings = list(cake_warnings(case.typed))
    assert len(warnings) == bool(warning)
    assert not warnings or warnings[0].startswith(warning)


def test_the_shaper_of_a_wire_delays_packets_below_the_rate_of_the_faster_direction() -> None:
    def warnings(bandwidth: str) -> list[str]:
        tree = {
            "duration": "4 s",
            "cell": {"phy": "802.11g"},
            "wire": {"rate": "25 Mbps", "back_rate": "5 Mbps", "queue": {"cake": bandwidth}},
            "station": {"a": {"download": 1}},
        }
        return list(cake_warnings(lh.Scenario(tree).typed))

    assert warnings("12 Mbps") == []
    [line] = warnings("25 Mbps")
    assert "never delays a packet" in line


def test_an_ack_filter_at_the_uplink_of_a_download_has_an_effect() -> None:
    case = lh.Scenario(
        tomllib.loads(LINE), {"link.line.back_queue": {"cake": {"ack_filter": "aggressive"}}}
    )
    assert not list(cake_warnings(case.typed))


def test_predictions_refuse_cake_in_one_line() -> None:
    with pytest.raises(lh.ModelError) as refused:
        lh.predict(ROUTER)
    assert "link bottleneck has cake; the model supports red" in str(refused.value)
    assert "\n" not in str(refused.value)
