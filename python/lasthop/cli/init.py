"""`lasthop init`: a first scenario from a few questions."""

import sys
from collections.abc import Mapping
from pathlib import Path

import typer

from lasthop.cli.boundary import Interrupted, note, print_error
from lasthop.cli.importing import new_file, put
from lasthop.cli.options import JSON, file_name, flag, unset
from lasthop.errors import UserError
from lasthop.extras import first_install
from lasthop.init import AIMS, MODELS, QUESTIONS, Answers, Question, next_command, scenario
from lasthop.scenario.scenario import Scenario

FILE = "scenario.toml"

ACTIONS = {"lasthop compare": "lasthop compare", "lasthop explain": "lasthop explain FILE"}
"""Actions with optional packages, by the beginning of the command that is proposed next."""


def init(
    file: Path = typer.Argument(
        Path(FILE), metavar="FILE", help="New scenario file.", parser=file_name
    ),
    yes: bool = flag("--yes", "Use the default answer where no option gives an answer.", "-y"),
    aim: str | None = unset(
        "NAME",
        f"Set what you want to know: {', '.join(AIMS)}. It sets the defaults of the other "
        f"answers. Default: call; {MODELS} if another answer is given as an option.",
    ),
    hop: str | None = unset(
        "NAME",
        "Set the last hop: 802.11ax, 802.11ac, 802.11n, 802.11g, 802.11b or router. The name "
        f"wifi means 802.11ax. Default: 802.11ax; 802.11g with --aim {MODELS}.",
    ),
    stations: str | None = unset(
        "LIST",
        'List the stations with their rates, such as "3 at 54, 1 at 6". From 802.11n on, list '
        'them with their distances, such as "3 near, 1 far, 1 old far".',
    ),
    traffic: str | None = unset(
        "LIST",
        "List the connections and calls of the stations, such as "
        '"1 x 1 call, 1 x 6 up, rest x 1 down".',
    ),
    wire: str | None = unset(
        "TEXT",
        'Set the rate and round-trip time of the wired line, such as "100 Mbps, 20 ms". '
        '"100/20 Mbps, 20 ms" sets 100 Mbps from the servers and 20 Mbps to the servers. The '
        "word none omits the line.",
    ),
    queue: str | None = unset(
        "TEXT",
        "Set the queue of the last hop: its limit in packets, or codel, fq_codel or pie. From "
        "802.11n on, mac80211 and the kinds of access points openwrt, isp and office are "
        "accepted, too.",
    ),
    as_json: bool = JSON,
) -> None:
    """Write a first scenario by answering six questions.

    The first question is what you want to know. The file ends with the commands that answer it.

    Answer the questions at the terminal, line by line on standard input, or by options. An empty
    line selects the default answer. An existing file is never replaced.
    """
    given = {
        "aim": aim,
        "hop": hop,
        "stations": stations,
        "traffic": traffic,
        "wire": wire,
        "queue": queue,
    }
    if aim is None and any(given.values()):
        given["aim"] = MODELS
    check_options(given, yes=yes)
    new_file(file, "FILE")
    known = Answers()
    asked = [question for question in QUESTIONS if given["aim"] is None or question.key != "aim"]
    try:
        for question in QUESTIONS:
            text = given[question.key]
            if text is not None:
                value = by_option(question, text, known)
            elif yes:
                value = question.read(question.default(known), known)
            else:
                value = ask(f"{asked.index(question) + 1}/{len(asked)}", question, known)
            known = known.with_answer(question.key, value)
    except KeyboardInterrupt:
        print(file=sys.stderr)
        raise Interrupted("no file was written") from None
    made = scenario(known, file.name)
    checked = Scenario(made)
    put(file, made, "FILE")
    if as_json:
        typer.echo(checked.to_json())
    else:
        command = next_command(known, str(file))
        action = next((each for each in ACTIONS if command.startswith(each)), "")
        remark = first_install(ACTIONS[action]) if action else ""
        note(f"{file}: written; next: {command}{remark}")


def check_options(given: Mapping[str, str | None], *, yes: bool) -> None:
    """Refuse options that are not valid, before the file is looked at or a question is asked.

    The meaning of an option depends on the earlier answers. Options after the first question that
    is asked are therefore read only after its answer.
    """
    known = Answers()
    for question in QUESTIONS:
        text = given[question.key]
        if text is not None:
            known = known.with_answer(question.key, by_option(question, text, known))
        elif yes:
            value = question.read(question.default(known), known)
            known = known.with_answer(question.key, value)
        else:
            return


def by_option(question: Question, text: str, known: Answers) -> object:
    """Return the answer that an option gives to a question; an error names the option."""
    try:
        return question.read(text, known)
    except UserError as error:
        raise UserError(f"--{question.key} {error}", error.hint) from None


def ask(place: str, question: Question, known: Answers) -> object:
    """Ask a question until an answer is valid; an empty line selects the default answer."""
    default = question.default(known)
    wrong = ""
    while True:
        print(f"{place} {question.asked(known)}", file=sys.stderr)
        print(f"    [{default}] ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            print(file=sys.stderr)
            reason = f"; {wrong}" if wrong else ""
            number = place.partition("/")[0]
            raise UserError(
                f"standard input ends before an answer to question {number}{reason}",
                "use --yes for the default answers",
            )
        if not sys.stdin.isatty():
            print(line.strip(), file=sys.stderr)
        try:
            return question.read(line.strip() or default, known)
        except UserError as error:
            wrong = str(error)
            print_error(wrong, error.hint)
