"""Write the manual page lasthop(1), which lists the commands. For their options, the page refers to
--help and to the documentation.
"""

from collections.abc import Iterator
from typing import Any

import typer

from lasthop.cli.app import app


def page() -> str:
    """Return the manual page in the format of man."""
    return "".join(f"{line}\n" for line in lines(typer.main.get_command(app)))


def lines(root: Any) -> Iterator[str]:
    """Yield the lines of the manual page for a command and its subcommands."""
    yield '.TH LASTHOP 1 "" lasthop "User commands"'
    yield ".SH NAME\nlasthop \\- predict, simulate, emulate and control TCP at the last hop"
    yield ".SH SYNOPSIS\n.B lasthop\n.I COMMAND\n.RI [ arguments ]"
    yield ".SH DESCRIPTION\n" + roff(root.help or "") + "\n.SH COMMANDS"
    for name, command in root.commands.items():
        yield f".TP\n.B {roff(name)}\n" + roff(first_sentence(command.help or ""))
    yield ".SH OPTIONS\n.TP\n.B \\-\\-help\nShow the arguments and options of a command."
    yield ".TP\n.BR \\-q , \\ \\-\\-quiet\nPrint nothing but the answer and errors."
    yield (
        ".SH EXIT STATUS\n0: success. 1: a defect of lasthop. 2: a problem that you can fix; one "
        "line describes it. 130: interrupted; finished parts are kept."
    )
    yield ".SH SEE ALSO\n.BR lasthop\\-gateway (8)"


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, in one line."""
    head, _, _ = " ".join(text.split()).partition(". ")
    return head.rstrip(".") + "."


def roff(text: str) -> str:
    """Return a text, escaped so that man prints it unchanged."""
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return "\\&" + plain if plain.startswith((".", "'")) else plain
