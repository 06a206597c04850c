"""Prints lasthop(1): what the commands are. Their options are in --help and in the docs."""

from typing import Any

import typer

from lasthop.cli.app import app


def main() -> None:
    """Print the page in the language of man."""
    root: Any = typer.main.get_command(app)
    print('.TH LASTHOP 1 "" lasthop "User commands"')
    print(
        ".SH NAME\nlasthop \\- who gets what at the last hop: predict, simulate, emulate, enforce"
    )
    print(".SH SYNOPSIS\n.B lasthop\n.I COMMAND\n.RI [ arguments ]")
    print(".SH DESCRIPTION\n" + roff(root.help or "") + "\n.SH COMMANDS")
    for name, command in root.commands.items():
        print(f".TP\n.B {roff(name)}\n" + roff(first_sentence(command.help or "")))
    print(".SH OPTIONS\n.TP\n.B \\-\\-help\nShow the arguments and options of a command.")
    print(".TP\n.BR \\-q , \\ \\-\\-quiet\nPrint nothing but the answer and errors.")
    print(
        ".SH EXIT STATUS\n0 all is well; 1 a defect of lasthop; 2 something you can put right, "
        "said in one line; 130 interrupted, what was finished is kept."
    )
    print(".SH SEE ALSO\n.BR lasthop\\-gateway (8)")


def first_sentence(text: str) -> str:
    """The text up to its first full stop, in one line."""
    head, _, _ = " ".join(text.split()).partition(". ")
    return head.rstrip(".") + "."


def roff(text: str) -> str:
    """The text, so that man shows it as it is."""
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return "\\&" + plain if plain.startswith((".", "'")) else plain


if __name__ == "__main__":
    main()
