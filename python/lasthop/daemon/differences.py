"""Compute the differences between the kernel's state and the layout, and the repairs of these
differences, without I/O.

A layout describes the wanted state by netlink requests. The kernel describes its present state by
dumps. `linux.described` computes comparable descriptions from requests and dumps. This module
detects a missing object, a changed setting or a foreign object, whichever program caused the
difference. Objects of other programs in an HTB hierarchy or a filter block of lasthop are removed.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeAlias

from lasthop.linux import tc
from lasthop.linux.changes import Repair
from lasthop.linux.counters import GETCLASS, GETFILTER, GETQDISC, bodies
from lasthop.linux.described import Name, described
from lasthop.linux.netlink import KernelError, Request, Socket
from lasthop.linux.tc import Block, Device

Body: TypeAlias = tuple[int, bytes]
"""Message type and body of a netlink message that describes an object in the kernel."""
EVERYTHING: Name = ("everything",)
"""Name that stands for all objects, in a difference that can only be repaired by setting up
everything again.
"""
MAX_NAMED = 3
"""Largest number of classes whose differences are reported in separate messages. Further classes
are only counted."""


class Difference(NamedTuple):
    """Difference between the kernel's state and the wanted state."""

    name: Name
    message: str
    repair: Sequence[Repair] = ()
    """Requests that repair the difference; empty if the service must not change the object."""


def inside(
    ifb: Device, wanted: Iterable[Request], has: Sequence[Body], spreads: dict[int, str]
) -> list[Difference]:
    """Return a difference for each foreign, missing or changed object inside an IFB or a filter
    block.

    `spreads` maps the number of an access point's class to the name of the access point, if a
    program distributes the flows of the access point over leaf classes.
    """
    present = {}
    for kind, body in has:
        if (thing := described(kind, body)) is not None:
            present[thing.name] = (thing.settings, kind, body)
    results = []
    lists = set()
    majors = {tc.OURS}
    for request in wanted:
        if request.kind == tc.NEWQDISC and (handle := tc.TCMSG.unpack_from(request.body)[2]):
            majors.add(handle >> 16)
        thing = described(request.kind, request.body)
        assert thing is not None, request.command
        lists.add(list_of(thing.name))
        settings, kind, body = present.pop(thing.name, (None, 0, b""))
        if settings == thing.settings:
            continue
        is_there = settings is not None
        text = in_words(ifb, thing.name, "changed" if is_there else "gone", spreads)
        repair = again(request, (kind, body)) if is_there else [request]
        results.append(Difference(thing.name, text, repair))
    alien = []
    for name, (_, kind, body) in reversed(present.items()):
        if is_within(name, majors):
            total = name[0] == "filter" and list_of(name) not in lists
            removal = tc.removal(kind, body, whole_list=total)
            alien.append(Difference(name, in_words(ifb, name, "not ours", spreads), [removal]))
            lists |= {list_of(name)} if total else set()
    # Foreign objects are removed first, since they may use numbers that lasthop's objects need.
    # Foreign filters are removed before foreign classes, since filters refer to classes.
    return [*sorted(alien, key=lambda each: each.name[0] != "filter"), *results]


def hierarchy(kernel: Socket, interface: int) -> Iterator[Body]:
    """Yield the type and body of each queueing discipline and class of an interface."""
    for question, kind in ((GETQDISC, tc.NEWQDISC), (GETCLASS, tc.NEWCLASS)):
        for body in bodies(kernel, question, interface):
            yield kind, body


def filters(kernel: Socket, questions: Iterable[bytes]) -> Iterator[Body]:
    """Yield the type and body of each filter. A request about a missing interface, block or class
    is ignored, since the kernel has removed its filters, too."""
    for question in questions:
        with suppress(KernelError):
            for body in kernel.dump(GETFILTER, question):
                yield tc.NEWFILTER, body


def list_of(name: Name) -> Name:
    """Return the part of a filter's name that identifies the filter list: interface, parent,
    priority and protocol, chain."""
    return name[:5]


def again(request: Request, body: Body) -> list[Request]:
    """Return the requests that restore the settings of `request` in an existing object, which
    `body` describes.
    """
    if request.kind == tc.NEWFILTER or is_fq_codel(request, body):
        return [tc.removal(*body), request]
    return [tc.changing(request)]


def is_fq_codel(request: Request, body: Body) -> bool:
    """Return whether the request and the kernel's object are both FQ-CoDel. Such an object must be
    replaced, because the number of flows of an existing FQ-CoDel cannot be changed.
    """
    wanted, has = described(request.kind, request.body), described(*body)
    return all(each is not None and each.settings[:1] == ("fq_codel",) for each in (wanted, has))


def is_within(name: Name, majors: Collection[int]) -> bool:
    """Return whether a foreign object must be removed: a filter, or a class with one of lasthop's
    major numbers.

    Classes that the kernel creates for some queueing disciplines have other major numbers.
    """
    kind, _, number, *_ = name
    if kind == "class":
        assert isinstance(number, int)
        return number >> 16 in majors
    return kind == "filter"


def in_words(ifb: Device, name: Name, what: str, spreads: dict[int, str]) -> str:
    """Return a message about the difference of an object. `name` is the object's name, and `what`
    describes the difference, such as "missing"."""
    kind, index, number, *_ = name
    assert isinstance(number, int)
    match kind:
        case "qdisc" if number == tc.ROOT:
            return f"the classes of {ifb.name} are gone"
        case "qdisc":
            return f"the queue of class {tc.shown(number)} of {ifb.name} is {what}"
        case "class":
            return f"class {tc.shown(number)} of {ifb.name} is {what}"
    if number in spreads and index != tc.BLOCK_INDEX:
        return f"the filter of {spreads[number]}'s flows is {what}"
    at = Block(number) if index == tc.BLOCK_INDEX else ifb
    return f"filters of {at.words()} are {what}"


def summarised(differences: Iterable[Difference]) -> list[str]:
    """Return the messages of the differences. If more than `MAX_NAMED` classes and queues differ,
    one message contains the number of the other classes and queues.
    """
    lines = list(dict.fromkeys(difference.message for difference in differences))
    gone = next((line for line in lines if line.startswith("the classes of ")), None)
    if gone is not None:
        return [gone, *(line for line in lines if line.startswith(("interface ", "the clsact ")))]
    named = [line for line in lines if " of class " in line or line.startswith("class ")]
    more = len(named) - MAX_NAMED
    if more <= 0:
        return lines
    rest = [line for line in lines if line not in set(named)]
    return [
        *rest,
        *named[:MAX_NAMED],
        f"{more} more classes and queues differ from their settings",
    ]
