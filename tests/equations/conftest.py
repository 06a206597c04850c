import copy
import re
from collections.abc import Callable
from typing import Any

import pytest

from lasthop.models import ModelError, predict

Scenario = dict[str, Any]
NODE = {
    "control_rate_bps": 2_000_000,
    "aifsn": 2,
    "cwmin": 31,
    "cwmax": 1023,
    "attempts_short": 7,
    "attempts_long": 4,
    "queue_packets": 1000,
}
TCP = {
    "congestion": "reno",
    "window_packets": 42,
    "initial_cwnd_packets": 2,
    "delayed_ack": True,
    "ack_delay_s": 0.1,
    "mss_bytes": 1460,
    "header_bytes": 40,
    "min_rto_s": 0.2,
    "initial_rto_s": 1.0,
    "segments": None,
}


def _flow(station: str, direction: str, number: int) -> Scenario:
    return {
        "name": f"{station}/{direction}/{number}",
        "station": station,
        "direction": direction,
        "start_s": 0.0,
        "stop_s": None,
        "tcp": dict(TCP),
    }


@pytest.fixture
def hotspot() -> Callable[..., Scenario]:
    """A normalised 802.11b hot-spot from (uploads, downloads) of each station."""

    def build(*connections: tuple[int, int]) -> Scenario:
        names = [f"sta-{number}" for number in range(1, len(connections) + 1)]
        return {
            "name": "hot-spot",
            "duration_s": 180.0,
            "warmup_s": 20.0,
            "replications": 5,
            "seed": 1,
            "cell": {
                "phy": "802.11b",
                "slot_s": 20e-6,
                "sifs_s": 10e-6,
                "preamble_s": 192e-6,
                "eifs_rate_bps": 1_000_000,
                "mac_header_bytes": 28,
                "llc_bytes": 8,
                "rts_threshold_bytes": None,
                "ack_timeout_s": None,
                "ap": {**copy.deepcopy(NODE), "queue_packets": 75},
            },
            "wire": {"rate_bps": None, "delay_s": 0.0, "queue_packets": 1000, "loss": 0.0},
            "stations": [
                {
                    "name": name,
                    "group": name,
                    "rate_bps": 11_000_000,
                    "downlink_rate_bps": 11_000_000,
                    "error_up": 0.0,
                    "error_down": 0.0,
                    **copy.deepcopy(NODE),
                }
                for name in names
            ],
            "flows": [
                _flow(name, direction, number)
                for name, counts in zip(names, connections, strict=True)
                for direction, count in zip(("up", "down"), counts, strict=True)
                for number in range(1, count + 1)
            ],
            "record": {"series_interval_s": None, "frames": None},
        }

    return build


@pytest.fixture
def refused() -> Callable[[Scenario, str, str], None]:
    """Asserts that the hot-spot model refuses a scenario for this assumption, in these words."""

    def check(scenario: Scenario, assumption: str, words: str) -> None:
        with pytest.raises(ModelError, match=re.escape(words)) as caught:
            predict(scenario)
        assert caught.value.assumption == assumption

    return check
