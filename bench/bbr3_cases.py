"""Networks in which BBR v3 of the engine is compared with an independent implementation."""

from typing import Any

MBPS = 1_000_000
#: Length of a full packet, and its payload. [bytes]
PACKET_BYTES = 1500

#: The first segment of a trace is sent without a round-trip sample of a handshake.
TCP = {"congestion": "bbr3", "initial_window": 10, "window": 20000, "handshake": False}


def bdp_packets(rate_mbps: float, rtt_ms: float) -> float:
    """Return the bandwidth-delay product in packets."""
    return rate_mbps * MBPS * rtt_ms / 1000 / 8 / PACKET_BYTES


def link(rate_mbps: float, rtt_ms: float, bdps: float, end_s: float, **more: Any) -> dict[str, Any]:
    """Return one flow over a link whose queue has `bdps` bandwidth-delay products."""
    made = {
        "duration": f"{end_s} s",
        "warmup": "0 s",
        "replications": 1,
        "link": {
            "line": {
                "from": "a",
                "to": "b",
                "rate": f"{rate_mbps:g} Mbps",
                "queue": max(2, round(bdps * bdp_packets(rate_mbps, rtt_ms))),
            }
        },
        "tcp": TCP,
        "flow": {"one": {"from": "a", "to": "b", "rtt": f"{rtt_ms:g} ms"}},
    }
    line, flow = made["link"]["line"], made["flow"]["one"]  # type: ignore[index]
    for key in ("queue", "loss", "rate"):
        if key in more:
            line[key] = more.pop(key)
    made["flow"].update(more.pop("others", {}))  # type: ignore[attr-defined]
    flow.update(more)
    return made


def steps(rates_mbps: tuple[float, ...], step_s: float) -> list[int]:
    """Return the times at which a link with changing rates sends 1,504 bytes. [ms]"""
    times: list[int] = []
    at_ms = 0.0
    for index, rate in enumerate(rates_mbps):
        while at_ms < (index + 1) * step_s * 1000:
            times.append(round(at_ms))
            at_ms += 1504 * 8 / rate / 1000
    return [*times, round(len(rates_mbps) * step_s * 1000)]


OTHER = {"from": "a", "to": "b", "rtt": "50 ms"}

CELL = {
    "duration": "10 s",
    "warmup": "0 s",
    "replications": 1,
    "cell": {"phy": "802.11ac", "ap_queue": 1000},
    "wire": {"delay": "10 ms"},
    "tcp": TCP,
    "station": {
        "one": {"download": {"segments": 25_000}},
        "other": {"download": {"congestion": "cubic"}},
    },
}

CASES: dict[str, dict[str, Any]] = {
    "10 Mb/s, 20 ms": link(10, 20, 1, 25),
    "10 Mb/s, 50 ms": link(10, 50, 1, 25),
    "100 Mb/s, 20 ms": link(100, 20, 1, 10),
    "100 Mb/s, 50 ms": link(100, 50, 1, 10),
    "queue of 0.25 BDP": link(20, 50, 0.25, 20),
    "queue of 4 BDP": link(20, 50, 4, 20),
    "FQ-CoDel": link(20, 50, 1, 20, queue={"fq_codel": {}}),
    "losses of 0.1 %": link(20, 50, 1, 20, loss=0.001),
    "losses of 1 %": link(20, 50, 1, 20, loss=0.01),
    "two flows": link(20, 50, 1, 25, others={"two": {**OTHER, "start": "3 s"}}),
    "next to CUBIC": link(20, 50, 1, 25, others={"two": {**OTHER, "congestion": "cubic"}}),
    "application-limited": link(20, 50, 1, 25, size="10 kB", every="40 ms"),
    "on and off": link(20, 50, 1, 40, on="3 s", off="3 s"),
    "Wi-Fi": CELL,
    "changing rate": link(20, 50, 1, 30, rate={"trace": steps((10, 40, 5), 10)}, queue=100),
}
