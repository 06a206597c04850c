"""Diagnosis as text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from lasthop.doctor.commands import COMMANDS
from lasthop.doctor.limits import Limit
from lasthop.doctor.machine import BUILT_IN, LOADABLE, LOADED, Linux, Machine
from lasthop.doctor.states import FAILS, RUNS, CommandState, Extra

__all__ = ["WIDTH", "text"]

NAME_WIDTH = 19
"""Width of the column of names. [characters]"""

MIN_COLUMNS_WIDTH = 56
"""Smallest width of a text with two columns. [characters]"""

CLAUSES: Mapping[str, str] = {
    "CASE": "only lists the models, not the parameters of CASE",
    "FILE": "only explains terms, not FILE",
    "origins": "cannot show who loaded a congestion control",
    "services of root": "cannot use services that root started",
    "test of the kernel": "it is unknown whether the kernel has all features",
    "test of this machine": "cannot test this machine",
}
"""Clause for each part of a command that the preposition "without" cannot describe."""

UNBROKEN = "\ue000"
"""Character that replaces the spaces within a command while a text is wrapped."""

WIDTH = 80
"""Width of the text at the Python prompt. [characters]"""


def text(
    machine: Machine,
    extras: Sequence[Extra],
    commands: Sequence[CommandState],
    width: int,
    *,
    has_facts: bool,
) -> str:
    """Return a diagnosis as text.

    Parameters
    ----------
    machine, extras, commands
        The facts about the machine, and the states of its extras and commands.
    width : int
        Largest length of a line. [characters]
    has_facts : bool
        Whether the text begins with the facts about the machine.
    """
    lines = [line for name, entry in facts(machine, extras) for line in row(name, entry, width)]
    blocks = ["\n".join(lines)] if has_facts else []
    groups: dict[str, list[CommandState]] = {}
    for each in commands:
        groups.setdefault(each.group, []).append(each)
    for group, members in groups.items():
        blocks.append("\n".join([group, *command_lines(members, width)]))
    return "\n\n".join(blocks) + "\n"


def row(name: str, entry: str, width: int) -> list[str]:
    """Return the lines of a name with its entry. Both columns are wrapped, except within the
    backticks of a command. If the width is too small for two columns, the entry is below the
    name."""
    kept = re.sub(r"`[^`]*`", lambda command: command[0].replace(" ", UNBROKEN), entry)
    has_columns = width >= MIN_COLUMNS_WIDTH
    entry_width = width - NAME_WIDTH - 2 if has_columns else max(width - 2, 1)
    entries = wrap(kept, entry_width, break_on_hyphens=False) or [""]
    entries = [line.replace(UNBROKEN, " ") for line in entries]
    names = wrap(name, NAME_WIDTH if has_columns else max(width, 1), break_on_hyphens=False)
    if not has_columns:
        return [*names, *(f"  {line}" for line in entries)]
    names = names or [""]
    count = max(len(names), len(entries))
    names += [""] * (count - len(names))
    entries += [""] * (count - len(entries))
    return [
        f"{left:<{NAME_WIDTH}}  {right}".rstrip()
        for left, right in zip(names, entries, strict=True)
    ]


def facts(machine: Machine, extras: Sequence[Extra]) -> Iterator[tuple[str, str]]:
    """Yield the facts about a machine, each with its name."""
    build = f"{machine.profile} build"
    if left_out := [name for name, is_built in machine.features.items() if not is_built]:
        build += f" without {', '.join(left_out)}"
    yield "lasthop", f"{machine.version}, {build}"
    yield "Python", machine.python
    cores = f"{machine.cores} core{'' if machine.cores == 1 else 's'}"
    yield "system", f"{machine.system} {machine.kernel} on {machine.architecture}, {cores}"
    complete = [each.name for each in extras if not each.missing]
    yield "installed extras", ", ".join(complete) or "none"
    for each in extras:
        if each.missing:
            lacks = ", ".join(each.missing)
            yield f"extra {each.name}", f"lacks {lacks}; run `{each.remedy}`"
    if machine.linux is not None:
        yield "user-mode Linux", machine.uml_version or "none"
        yield from linux_facts(machine.linux)


def linux_facts(linux: Linux) -> Iterator[tuple[str, str]]:
    """Yield the facts about Linux, each with its name."""
    lacks = linux.missing_capability
    yield "rights", ("root" if linux.is_root else "user") + (f" without {lacks}" if lacks else "")
    works = {
        "network namespaces": linux.network_namespaces_refusal is None,
        "user namespaces": linux.has_user_namespaces,
        "TUN": linux.tun_refusal is None,
        "ptrace": linux.has_ptrace,
        "BPF": linux.bpf_refusal is None,
        "BTF": linux.has_btf,
    }
    yield "kernel features", ", ".join(name for name, works in works.items() if works) or "none"
    if missing := [name for name, works in works.items() if not works]:
        yield "missing features", ", ".join(missing)
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
    yield "congestion controls", (", ".join(linux.congestion_controls) or "none") + more
    programs = [name for name, is_installed in linux.programs.items() if is_installed]
    yield "programs", ", ".join(programs) or "none of " + ", ".join(linux.programs)


def command_lines(commands: Sequence[CommandState], width: int) -> Iterator[str]:
    """Yield the lines of commands. Commands with the same state share their lines, except those of
    different groups."""
    alike: dict[tuple[str, str, tuple[Limit, ...]], list[str]] = {}
    for each in commands:
        group, space, _ = each.command.partition(" ")
        limits = tuple(shortened(limit, each.command, group) for limit in each.limits)
        alike.setdefault((group if space else "", each.state, limits), []).append(each.command)
    for (group, state, limits), names in alike.items():
        name = joined_names(group, names)
        for entry in command_entries(state, limits):
            yield from (f"  {line}" for line in row(name, entry, width - 2))
            name = ""


def shortened(limit: Limit, command: str, group: str) -> Limit:
    """Return a limit whose reason names the group of a command instead of the command. The reason
    for a missing package names neither."""
    reason = limit.reason.replace(f"lasthop {command} ", f"lasthop {group} ")
    if limit.kind == "package":
        reason = re.sub(r"^.*: (?=package )", "", reason)
    return limit._replace(reason=reason)


def joined_names(group: str, names: list[str]) -> str:
    """Return the names of commands. If all commands of a group are named, return the group."""
    if group and len(names) == sum(name.startswith(f"{group} ") for name in COMMANDS):
        return group
    return ", ".join([names[0], *(name.removeprefix(f"{group} ") for name in names[1:])])


def command_entries(state: str, limits: tuple[Limit, ...]) -> Iterator[str]:
    """Yield the entries of a command: its state, and the reason and remedy of each limit."""
    if state == RUNS:
        yield "runs"
    for number, limit in enumerate(limits):
        reason = limit.reason.removeprefix(f"{limit.part}: ")
        remedy = f"; {limit.remedy}" if limit.remedy else ""
        yield f"{beginning(state, limit.part, is_first=number == 0)}: {reason}{remedy}"


def beginning(state: str, part: str | None, *, is_first: bool) -> str:
    """Return the beginning of the entry about a limit of a command, or of its `part`."""
    if part is None:
        return "does not run" if is_first else "also"
    if state == FAILS:
        return f"does not run {'in' if part == 'real time' else 'with'} {part}"
    if part in CLAUSES:
        return f"runs, but {CLAUSES[part]}" if is_first else f"but {CLAUSES[part]}"
    return f"runs, without {part}" if is_first else f"without {part}"
