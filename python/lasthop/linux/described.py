"""Comparable descriptions of traffic control objects, from a request or from the kernel.

A request and the kernel's report of the same object differ: the kernel adds numbers and statistics,
and reports the parent of a class in another field. This module computes equal descriptions from the
request and from the report. If the descriptions differ, another program has changed the object.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from lasthop.linux import cake, disciplines, tc
from lasthop.linux.netlink import attributes, number_in, text_in
from lasthop.linux.tc import CHAIN, KIND, OPTIONS, TCMSG

MIRRED = struct.Struct("=IIiiiiI")
"""Layout of the mirred action: index, capabilities, verdict, references, bindings, direction,
interface (linux/tc_mirred.h)."""
CLASS = struct.Struct("=8xI8xIIIIII")
"""Layout of an HTB class: rate and ceiling in byte/s, bucket depths of the rate and of the ceiling
in ticks, quantum, level, priority (tc_htb_opt)."""
MAX_SFQ = 127 * 128
"""Largest packet limit of the queueing discipline SFQ. The kernel reduces a larger limit to this
number. [packets]"""

Name: TypeAlias = tuple[object, ...]
"""Identity of a queueing discipline, class or filter: its kind, and the numbers that distinguish it
from others."""


class Described(NamedTuple):
    """Queueing discipline, class or filter, described by its name and settings."""

    name: Name
    settings: tuple[object, ...]


def described(kind: int, body: bytes) -> Described | None:
    """Return the description of the object in a netlink message; None if the kernel created the
    object."""
    match kind:
        case tc.NEWQDISC:
            return qdisc(body)
        case tc.NEWCLASS:
            return htb_class(body)
        case tc.NEWFILTER:
            return filter_(body)
    return None


def qdisc(body: bytes) -> Described:
    """Return the description of a queueing discipline. Its interface and its parent identify it.
    The handle of an HTB discipline or a root discipline is one of its settings."""
    _, index, handle, parent, _ = TCMSG.unpack_from(body)
    has = dict(attributes(body, TCMSG.size))
    kind = text_in(has.get(KIND, b""))
    name = ("qdisc", index, parent)
    if parent == tc.INGRESS:
        return Described(name, (kind, number_in(has.get(tc.INGRESS_BLOCK))))
    major = handle if parent == tc.ROOT or kind == "htb" else None
    return Described(name, (kind, major, *queue_options(kind, has.get(OPTIONS, b""))))


def queue_options(kind: str, options: bytes) -> tuple[int, ...]:
    """Return the settings of a queueing discipline of this kind, as comparable numbers."""
    match kind:
        case "htb":
            has = dict(attributes(options))
            _, r2q, default, _, _ = struct.unpack_from("=IIIII", has[tc.HTB_INIT])
            return r2q, default, number_in(has.get(tc.HTB_DIRECT_QLEN))
        case "tbf":
            return (number_in(dict(attributes(options)).get(tc.TBF_RATE64)),)
        case "pfifo" | "bfifo":
            return struct.unpack_from("=I", options)
        case "codel" | "fq_codel":
            has = dict(attributes(options))
            times = (round_time(has, each) for each in (disciplines.TARGET, disciplines.INTERVAL))
            others = (
                disciplines.LIMIT,
                disciplines.ECN,
                disciplines.FLOWS,
                disciplines.MEMORY_LIMIT,
            )
            return (*times, *(number_in(has.get(each)) for each in others))
        case "cake":
            return cake.compared(options)
        case "pie":
            has = dict(attributes(options))
            # The time between updates is not compared: the kernel rounds it to timer ticks, which
            # can be as long as 10 ms.
            target = round(number_in(has.get(disciplines.PIE_TARGET)) / 100)
            return target, *(number_in(has.get(each)) for each in disciplines.PIE_NUMBERS)
        case "red":
            has = dict(attributes(options))
            parameters = struct.unpack_from("=IIIBBBB", has[disciplines.RED_PARMS])
            return (*parameters, number_in(has.get(disciplines.RED_MAX_P)))
        case "sfq":
            _, perturb_s, limit = struct.unpack_from("=IiI", options)
            return perturb_s, min(limit, MAX_SFQ)
    return ()


def round_time(has: dict[int, bytes], which: int) -> int:
    """Return one of CoDel's times in multiples of 10 us. The time must be rounded, since the kernel
    stores times in units of 1.024 us."""
    return round(number_in(has.get(which)) / 10)


def htb_class(body: bytes) -> Described | None:
    """Return the description of an HTB class, which is identified by its number. The quantum of a
    class at the root is left out, since this quantum has no effect."""
    _, index, handle, parent, _ = TCMSG.unpack_from(body)
    has = dict(attributes(body, TCMSG.size))
    if has.get(KIND) != b"htb\0":
        return None
    options = dict(attributes(has.get(OPTIONS, b"")))
    rate, ceil, buffer, cbuffer, quantum, _, prio = CLASS.unpack_from(options[tc.HTB_PARMS])
    rate = number_in(options.get(tc.HTB_RATE64), rate)
    ceil = number_in(options.get(tc.HTB_CEIL64), ceil)
    if parent in (tc.ROOT, handle & 0xFFFF0000):
        parent, quantum = tc.ROOT, None
    return Described(("class", index, handle), (parent, rate, ceil, buffer, cbuffer, quantum, prio))


def filter_(body: bytes) -> Described | None:
    """Return the description of a filter, which is identified by its number. If the kernel chooses
    the number, the filter is identified by its settings."""
    _, index, handle, parent, info = TCMSG.unpack_from(body)
    has = dict(attributes(body, TCMSG.size))
    kind, options = has.get(KIND, b""), has.get(OPTIONS)
    where = ("filter", index, parent, info, number_in(has.get(CHAIN)))
    if options is None:
        return None  # This message is the head of the filter list.
    lines = dict(attributes(options))
    if kind == b"u32\0":
        is_root = handle >> 20 >= tc.U32_ROOT_TABLE >> 20
        if is_root and handle & 0xFFFFF == 0:
            return None  # This message is the hash table at the beginning of each filter list.
        settings: tuple[object, ...] = (
            kind,
            number_in(lines.get(tc.U32_DIVISOR)),
            lines.get(tc.U32_SEL),
            number_in(lines.get(tc.U32_CLASSID)),
            number_in(lines.get(tc.U32_LINK)),
            tuple(actions(lines.get(tc.U32_ACT, b""))),
        )
        is_numbered = handle != 0 and not is_root
        return Described((*where, handle if is_numbered else settings), settings)
    if kind == b"bpf\0":
        program, direct = lines.get(tc.BPF_NAME), number_in(lines.get(tc.BPF_FLAGS))
        settings = (
            kind,
            lines.get(tc.BPF_OPS),
            number_in(lines.get(tc.BPF_CLASSID)),
            program,
            direct,
            tuple(actions(lines.get(tc.BPF_ACT, b""))),
        )
        return Described((*where, settings), settings)
    return Described((*where, kind, handle), (kind, options))


def actions(data: bytes) -> Iterator[tuple[object, ...]]:
    """Yield a comparable tuple for each action of a filter: kind, verdict, direction and
    interface."""
    for _, item in attributes(data):
        has = dict(attributes(item))
        kind = has.get(tc.ACT_KIND, b"")
        if kind != b"mirred\0":
            yield (kind,)
            continue
        options = dict(attributes(has.get(tc.ACT_OPTIONS, b"")))
        _, _, verdict, _, _, direction, interface = MIRRED.unpack_from(options[tc.MIRRED_PARMS])
        yield kind, verdict, direction, interface
