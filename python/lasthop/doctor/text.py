"""Diagnosis as text."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from lasthop.doctor.limits import Limit
from lasthop.doctor.machine import BUILT_IN, LOADABLE, LOADED, Linux, Machine
from lasthop.doctor.states import Extra, VerbState
from lasthop.doctor.verbs import VERBS

__all__ = ["WIDTH", "text"]

NAMES = 19
"""Width of the column of names. [characters]"""

WIDTH = 80
"""Width of the text at the Python prompt. [characters]"""


def text(
    machine: Machine,
    extras: Sequence[Extra],
    verbs: Sequence[VerbState],
    width: int,
    *,
    has_facts: bool,
) -> str:
    """Return a diagnosis as text.

    Parameters
    ----------
    machine, extras, verbs
        The facts about the machine, and the states of its extras and verbs.
    width : int
        Largest length of a line. [characters]
    has_facts : bool
        Whether the text begins with the facts about the machine.
    """
    lines = [line for name, entry in facts(machine, extras) for line in row(name, entry, width)]
    blocks = ["\n".join(lines)] if has_facts else []
    groups: dict[str, list[VerbState]] = {}
    for each in verbs:
        groups.setdefault(each.group, []).append(each)
    for group, members in groups.items():
        blocks.append("\n".join([group, *lines_of(members, width)]))
    return "\n\n".join(blocks) + "\n"


def row(name: str, entry: str, width: int) -> list[str]:
    """Return the lines of a name with its entry. Both columns are wrapped."""
    entries = wrap(entry, max(width - NAMES - 2, NAMES), break_on_hyphens=False) or [""]
    names = wrap(name, NAMES, break_on_hyphens=False) or [""]
    count = max(len(names), len(entries))
    names += [""] * (count - len(names))
    entries += [""] * (count - len(entries))
    return [
        f"{left:<{NAMES}}  {right}".rstrip() for left, right in zip(names, entries, strict=True)
    ]


def facts(machine: Machine, extras: Sequence[Extra]) -> Iterator[tuple[str, str]]:
    """Yield the facts about a machine, each with its name."""
    build = f"{machine.profile} build"
    if absent := [name for name, is_there in machine.features.items() if not is_there]:
        build += f" without {', '.join(absent)}"
    yield "lasthop", f"{machine.version}, {build}"
    yield "Python", machine.python
    cores = f"{machine.cores} core{'' if machine.cores == 1 else 's'}"
    yield "system", f"{machine.system} {machine.kernel} on {machine.architecture}, {cores}"
    complete = [each.name for each in extras if not each.missing]
    yield "complete extras", ", ".join(complete) or "none"
    for each in extras:
        if each.missing:
            lacks = ", ".join(each.missing)
            yield f"extra {each.name}", f"lacks {lacks}; {each.remedy}"
    yield "user-mode Linux", machine.uml_version or "none"
    if machine.linux is not None:
        yield from linux_facts(machine.linux)


def linux_facts(linux: Linux) -> Iterator[tuple[str, str]]:
    """Yield the facts about Linux, each with its name."""
    lacks = linux.missing_capability
    yield "rights", ("root" if linux.is_root else "user") + (f" without {lacks}" if lacks else "")
    works = {
        "network namespaces": linux.network_namespaces is None,
        "user namespaces": linux.user_namespaces,
        "TUN": linux.tun is None,
        "ptrace": linux.ptrace,
        "BPF": linux.bpf is None,
        "BTF": linux.btf,
    }
    yield "available", ", ".join(name for name, works in works.items() if works) or "nothing"
    if absent := [name for name, works in works.items() if not works]:
        yield "not available", ", ".join(absent)
    states: dict[str, list[str]] = {}
    for module, state in linux.modules.items():
        if module.startswith("sch_"):
            state = "present" if state in (LOADED, BUILT_IN) else state
            states.setdefault(state, []).append(module.removeprefix("sch_"))
    for state, names in states.items():
        yield f"qdiscs {state}", ", ".join(names)
    loadable = [
        module.removeprefix("tcp_")
        for module, state in linux.modules.items()
        if module.startswith("tcp_") and state == LOADABLE
    ]
    more = f"; loadable: {', '.join(loadable)}" if loadable else ""
    yield "congestion controls", ", ".join(linux.congestion_controls) + more
    programs = [name for name, is_there in linux.programs.items() if is_there]
    yield "programs", ", ".join(programs) or "none of " + ", ".join(linux.programs)


def lines_of(verbs: Sequence[VerbState], width: int) -> Iterator[str]:
    """Yield the lines of verbs. Verbs with the same state share their lines, except those of
    different groups."""
    alike: dict[tuple[str, str, tuple[Limit, ...]], list[str]] = {}
    for each in verbs:
        group, space, _ = each.verb.partition(" ")
        limits = tuple(of_group(limit, each.verb, group) for limit in each.limits)
        alike.setdefault((group if space else "", each.state, limits), []).append(each.verb)
    for (group, state, limits), names in alike.items():
        name = called(group, names)
        for entry in entries_of(state, limits):
            yield from (f"  {line}" for line in row(name, entry, width - 2))
            name = ""


def of_group(limit: Limit, verb: str, group: str) -> Limit:
    """Return a limit whose reason names the group of a verb instead of the verb."""
    return limit._replace(reason=limit.reason.replace(f"lasthop {verb} ", f"lasthop {group} "))


def called(group: str, names: list[str]) -> str:
    """Return the names of verbs. If all verbs of a group are named, return the group."""
    if group and len(names) == sum(name.startswith(f"{group} ") for name in VERBS):
        return group
    return ", ".join([names[0], *(name.removeprefix(f"{group} ") for name in names[1:])])


def entries_of(state: str, limits: tuple[Limit, ...]) -> Iterator[str]:
    """Yield the entries of a verb: its state, and the reason and remedy of each limit."""
    if state == "runs":
        yield "runs"
    for number, limit in enumerate(limits):
        begin = "runs, without" if state == "partly" else "does not run"
        if number:
            begin = "without" if limit.part else "also"
        part = f" {limit.part}" if limit.part else ""
        if state == "no" and limit.part:
            begin = "does not run in" if limit.part == "real time" else "does not run with"
        reason = limit.reason.removeprefix(f"{limit.part}: ")
        yield f"{begin}{part}: {reason}" + (f"; {limit.remedy}" if limit.remedy else "")
