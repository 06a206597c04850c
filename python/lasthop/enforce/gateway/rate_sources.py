"""Data rates of stations, read from their access point: by iw, from hostapd, and by SNMP.

The rate is that of frames **to** the station (``tx bitrate``, ``tx_rate_info``,
cDot11ClientCurrentTxRateSet). All three sources report this rate, and most bytes of a hot-spot are
sent to stations. The rate of frames from the station (``rx``) is used if no other rate is reported.
For ``rx``, Linux (mac80211) reports the rate of the last received data frame. Before Linux 6.5, the
last data frame can be a null frame, which is often sent at a low rate. The expected throughput of
rate control is not used: few drivers report it, and paper 002, section 4.1, weighs stations by
physical rates.

References: Linux, ``net/mac80211/rx.c`` (``ieee80211_rx_h_sta_process``); iw 6.9, ``station.c``;
hostapd 2.11, ``ctrl_iface.c``, ``ap/ctrl_iface_ap.c`` and ``common/wpa_ctrl.c``;
CISCO-DOT11-ASSOCIATION-MIB.
"""

import os
import re
import selectors
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import IO, NamedTuple

from lasthop.enforce.gateway.config import AccessPoint, Gateway, RateSource, Snmp
from lasthop.enforce.gateway.roster import Sighting
from lasthop.enforce.gateway.snmp import rates_of
from lasthop.errors import UserError
from lasthop.importing import dumped
from lasthop.importing.dump import parse
from lasthop.importing.text import LONGEST_LINE, lines_of

TIMEOUT_S = 3.0
"""Longest wait for the program iw, and for one reply from hostapd. [s]"""
LIST_TIMEOUT_S = 10.0
"""Longest time for all replies from hostapd. [s]"""
MAX_OUTPUT_BYTES = 4 << 20
"""Longest output of iw that is read. It is long enough for ten thousand stations. [bytes]"""
MAX_ANSWER_BYTES = 1 << 16
"""Longest reply from hostapd that is read. hostapd's internal buffer has 4096 bytes. [bytes]"""
MAX_STATIONS = 10_000
"""Largest number of stations in the report of a source. An access point has only 2007 association
identifiers. [-]"""
TRIES = 3
"""Number of attempts to read hostapd's list, since a station may leave during the requests. [-]"""
RATE_INFO_BPS = 100_000
"""Unit of ``tx_rate_info`` in the replies of hostapd. [bit/s]"""
MIN_BPS, MAX_BPS = 100_000, 100_000_000_000
"""Smallest and largest data rate that is accepted. The lowest rate of 802.11 is 0.15 Mbit/s
(802.11ah), the highest is 46 Gbit/s (802.11be). [bit/s]"""

MAC = re.compile(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}")
RATE_INFO = re.compile(r"([0-9]{1,9})(?: .*)?")
PROGRAMS = "/usr/local/sbin:/usr/sbin:/sbin"
"""Directories that may contain iw and are not in the PATH of every user."""


class Reading(NamedTuple):
    """Data rate of a station as a source reports it."""

    mac: str
    rate_bps: int | None
    """Rate of frames to the station; None if the source reports none. [bit/s]"""


class Answer(NamedTuple):
    """Readings of a source, and messages about its faults."""

    readings: list[Reading]
    faults: list[str]


def read_station_rates(gateway: Gateway) -> tuple[list[Sighting], list[str]]:
    """Query all sources of data rates simultaneously. Return the rates, and messages about faulty
    sources."""
    aps = [ap for ap in gateway.aps if ap.reads_rates]
    asked = [(ap.name, name, ask) for ap in aps for name, ask in sources_of(ap)]
    seen: list[Sighting] = []
    faults: list[str] = []
    read: set[tuple[str, str]] = set()
    if not asked:
        return seen, faults
    with ThreadPoolExecutor(len(asked), "rates") as workers:
        answers = [workers.submit(query, ask) for _, _, ask in asked]
        for (ap, name, _), answer in zip(asked, answers, strict=True):
            readings, new_faults = answer.result()
            seen += [
                Sighting(mac, None, ap=ap, is_new=False, rate_bps=rate_bps, rate_source=name)
                for mac, rate_bps in readings
                if rate_bps is not None and (ap, mac) not in read
            ]
            read.update((ap, each.mac) for each in readings if each.rate_bps is not None)
            if readings and all(each.rate_bps is None for each in readings) and not new_faults:
                new_faults.append(f"{name} reports no rate of its {len(readings)} stations")
            faults += [f"access point {ap}: {fault}" for fault in new_faults]
    return seen, faults


def sources_of(ap: AccessPoint) -> Iterator[tuple[str, Callable[[], Answer]]]:
    """Yield the sources of an access point's data rates. `status` shows the name of each source."""
    for source in ap.station_rates:
        read = read_iw if source.kind == "iw" else read_hostapd
        yield source.kind, partial(read, source)
    if ap.snmp is not None and ap.snmp.rates is not None:
        yield "snmp", partial(read_snmp, ap.snmp)


def query(ask: Callable[[], Answer]) -> Answer:
    """Query a source, and return one reading for each station.

    Errors, and rates outside `MIN_BPS` to `MAX_BPS`, are reported as faults.
    """
    try:
        result = ask()
    except UserError as error:
        return Answer([], [str(error)])
    except Exception as error:  # an error in one source must not affect other sources
        return Answer([], [f"{type(error).__name__}: {error}"])
    bounds = range(MIN_BPS, MAX_BPS + 1)
    once: dict[str, Reading] = {}
    for each in result.readings:
        once.setdefault(each.mac, each)
    readings = once.values()
    invalid = [each for each in readings if each.rate_bps and each.rate_bps not in bounds]
    valid = [each for each in readings if each.rate_bps is None or each.rate_bps in bounds]
    faults = [
        f"station {mac}: {rate_bps} bit/s is no rate of a WLAN: expected 100 kbps to 100 Gbps"
        for mac, rate_bps in invalid
    ]
    return Answer(valid, one_line([*result.faults, *faults]))


def one_line(faults: list[str]) -> list[str]:
    """Return a single line that summarizes all faults of a source."""
    if len(faults) < 2:
        return faults
    return [f"{faults[0]} (and {len(faults) - 1} more)"]


# Readings from the program iw.


def read_iw(source: RateSource) -> Answer:
    """Run ``iw dev INTERFACE station dump``, and return the data rates in its output.

    Raises
    ------
    UserError
        If the program or the interface is missing, if the program does not finish, or if its
        output cannot be parsed.
    """
    words = ["iw", "dev", source.at, "station", "dump"]
    name = " ".join(words)
    path = os.pathsep.join((os.environ.get("PATH", ""), PROGRAMS))
    if (program := shutil.which("iw", path=path)) is None:
        raise UserError(f"{name}: the program iw is not installed")
    lines = lines_of(output_of([program, *words[1:]], name), name, "a station dump of iw")
    blocks = parse(lines).blocks
    if not blocks and any(line.strip() for line in lines):
        raise UserError(f'{name}: it has no line such as "Station 02:00:00:00:00:01 (on wlan0)"')
    if any(block.is_of_station for block in blocks):
        raise UserError(f"{name}: {source.at} is a station of another access point")
    readings, faults = [], []
    for block in blocks[:MAX_STATIONS]:
        try:
            to = dumped.rate(name, block, "tx bitrate")
            seen = to or dumped.rate(name, block, "rx bitrate")
        except UserError as error:
            faults.append(printable(str(error)))
        else:
            if MAC.fullmatch(block.address):
                readings.append(Reading(block.address, seen and round(seen.rate_bps)))
    return Answer(readings, faults)


def output_of(command: list[str], name: str) -> bytes:
    """Run a program, and return its output. `TIMEOUT_S` and `MAX_OUTPUT_BYTES` limit time and
    length."""
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except OSError as error:
        raise UserError(f"{name}: cannot be started: {error.strerror}") from None
    assert process.stdout is not None
    try:
        printed = printed_by(process.stdout, name)
        code = process.wait(TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise UserError(f"{name}: does not end within {TIMEOUT_S:g} s") from None
    finally:
        process.kill()
        process.stdout.close()
        process.wait()
    if code:
        text = printable(printed.decode(errors="replace")) or f"exit code {code}"
        raise UserError(f"{name}: {text}")
    return printed


def printed_by(pipe: IO[bytes], name: str) -> bytes:
    """Return all bytes that are written to a pipe until it is closed."""
    until_s, printed = time.monotonic() + TIMEOUT_S, bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if not selector.select(max(until_s - time.monotonic(), 0.0)):
                raise UserError(f"{name}: no answer within {TIMEOUT_S:g} s")
            if not (some := os.read(pipe.fileno(), 1 << 16)):
                return bytes(printed)
            printed += some
            if len(printed) > MAX_OUTPUT_BYTES:
                raise UserError(f"{name}: prints more than {MAX_OUTPUT_BYTES >> 20} MiB")


# Readings from the control socket of hostapd.


def read_hostapd(source: RateSource) -> Answer:
    """Return the data rates of the stations that hostapd lists at its control socket.

    Requests are datagrams: ``STA-FIRST``, then ``STA-NEXT MAC`` with the previous station. The
    reply is the MAC address of the next station and lines such as ``tx_rate_info=1300 mcs 15``.
    After the last station, the reply is empty. If the previous station has left, the reply is
    ``FAIL``, and the list is read again::

        STA-FIRST                  02:00:5e:10:00:01
                                   flags=[AUTH][ASSOC][AUTHORIZED]
                                   rx_rate_info=60
                                   tx_rate_info=540
        STA-NEXT 02:00:5e:10:00:01
                                   (empty)

    Raises
    ------
    UserError
        If hostapd does not listen at the socket, or if a reply does not have this form.
    """
    name = f"hostapd {source.at}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asking:
        try:
            # The kernel chooses an abstract name (unix(7), autobind), to which hostapd can reply.
            # An abstract name leaves no file, and does not require that hostapd can access this
            # process's /tmp.
            asking.bind("")
            asking.connect(source.at)
        except PermissionError:
            group = "`ctrl_interface_group` of hostapd.conf names the group that may ask"
            raise UserError(f"{name}: permission denied: {group}") from None
        except OSError as error:
            raise UserError(f"{name}: {error.strerror}") from None
        until_s = time.monotonic() + LIST_TIMEOUT_S
        for _ in range(TRIES):
            if (result := walk(asking, name, until_s)) is not None:
                return result
    raise UserError(f"{name}: its list of stations changed while it was read, {TRIES} times")


def walk(asking: socket.socket, name: str, until_s: float) -> Answer | None:
    """Return the data rates of all stations; None if a station has left during the requests."""
    readings: dict[str, Reading] = {}
    faults: list[str] = []
    request = "STA-FIRST"
    while len(readings) < MAX_STATIONS:
        text = ask(asking, request, name, until_s)
        if not text:
            break
        if text.startswith("FAIL") and readings:
            return None
        lines = text.splitlines()
        mac = lines[0].strip().lower()
        if not MAC.fullmatch(mac):
            shown = printable(lines[0])[:40]
            raise UserError(f'{name}: {request}: "{shown}" is no MAC address of a station')
        if mac in readings:
            break
        try:
            rate_bps = rate_info(lines[1:])
        except ValueError as error:
            faults.append(f"{name}: station {mac}: {error}")
            rate_bps = None
        readings[mac] = Reading(mac, rate_bps)
        request = f"STA-NEXT {mac}"
    return Answer(list(readings.values()), faults)


def ask(asking: socket.socket, request: str, name: str, until_s: float) -> str:
    """Send a request to hostapd and return the reply. `until_s` is the deadline for the whole list.
    [s]"""
    end_s = min(time.monotonic() + TIMEOUT_S, until_s)
    try:
        asking.send(request.encode())
        while (left_s := end_s - time.monotonic()) > 0:
            asking.settimeout(left_s)
            data = asking.recv(MAX_ANSWER_BYTES + 1)
            if len(data) > MAX_ANSWER_BYTES:
                raise UserError(f"{name}: an answer of more than {MAX_ANSWER_BYTES >> 10} KiB")
            if not data.startswith(b"<"):  # ignore an unsolicited event
                return data.decode(errors="replace")
    except TimeoutError:
        pass
    except OSError as error:
        raise UserError(f"{name}: {error.strerror}") from None
    if end_s == until_s:
        raise UserError(f"{name}: its list of stations has no end within {LIST_TIMEOUT_S:g} s")
    raise UserError(f"{name}: no answer within {TIMEOUT_S:g} s")


def rate_info(lines: Iterable[str]) -> int | None:
    """Return the rate of frames to a station, or else the rate of frames from the station. [bit/s]

    Return None if no rate is reported, or if the rate is 0. Raise `ValueError` if the value is not
    a rate.
    """
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    for key in ("tx_rate_info", "rx_rate_info"):
        text = values.get(key)
        if text is None:
            continue
        if (match := RATE_INFO.fullmatch(text)) is None:
            raise ValueError(f'`{key}`: "{printable(text)[:40]}" is not a rate such as 540')
        if rate := int(match[1]):
            return rate * RATE_INFO_BPS
    return None


# Readings from a table of an access point by SNMP.


def read_snmp(agent: Snmp) -> Answer:
    """Return the data rates in a column of an access point's SNMP table."""
    readings, faults = [], []
    for mac, units in rates_of(agent):
        if units is None:
            faults.append(f"SNMP agent {agent.host}: station {mac}: its rate is not a number")
        else:
            readings.append(Reading(mac, round(units * agent.rates_unit_bps) or None))
    return Answer(readings, faults)


def printable(text: str) -> str:
    """Return a text from another program as one line of printable characters."""
    line = " ".join(text[:LONGEST_LINE].split())
    return "".join(c if c.isprintable() else "?" for c in line)[:200]
