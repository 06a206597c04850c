"""Interface between commands and the shell: exit codes, error lines, broken pipes.

Exit codes are 0 on success, 1 after a defect of lasthop, 2 after an error that the user can
correct, 130 after Ctrl-C, and 141 if the program that reads standard output has ended. Messages
that cannot be written to standard error do not change the exit code.
"""

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from errno import EINVAL
from typing import TYPE_CHECKING, Any, TypeAlias

from lasthop.cli.listing import command_given
from lasthop.cli.messages import discard, losing_messages
from lasthop.cli.quiet import be_quiet, is_quiet
from lasthop.cli.screen import echo, print_every_character
from lasthop.errors import ScenarioError, UserError
from lasthop.progress.interruption import INTERRUPTED, exit_quietly, exits_quietly
from lasthop.progress.steps import Watcher, watched_by

if TYPE_CHECKING:
    from lasthop.emulated.emulation import Emulation
    from lasthop.prediction.prediction import Prediction
    from lasthop.progress.steps import Step
    from lasthop.simulation.result import Result
    from lasthop.simulation.simulate import ProgressCallback

Run: TypeAlias = Callable[[list[str]], Any]
"""Function that runs a command line, and returns the exit code or None."""

USER_ERROR = 2
BROKEN_PIPE = 141

MAX_PROBLEMS = 20
"""Maximum number of printed problems of a scenario. If there are more, their number is printed."""

CLOSE = 0.7
"""Smallest similarity at which a known name is suggested for an unknown name. [-]"""

MAX_OWNERS = 3
"""Maximum number of commands that a hint names as those that have an unknown option."""

WITH_SCENARIO = ("check", "predict", "simulate", "compare", "emulate", "sweep", "tune")
"""Commands whose argument FILE is a scenario."""

REPORT_HINT = "report it with the scenario; set LASTHOP_TRACEBACK=1 to see where it happened"


class Interrupted(UserError):
    """Error for Ctrl-C during a command; the message names the results that are saved."""


@contextmanager
def simulating() -> "Iterator[ProgressCallback | None]":
    """Draw the progress of a simulation; after Ctrl-C, report that no result is saved.

    This message replaces the engine's warning about the interruption.
    """
    from lasthop.cli.progress import progress_bar

    try:
        with progress_bar("simulating") as progress, warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            yield progress
    except KeyboardInterrupt:
        raise Interrupted("no result is saved") from None


def print_either(as_json: bool, json: Callable[[], str], tables: Callable[[], None]) -> None:
    """Print a result as JSON or as tables."""
    if as_json:
        sys.stdout.write(json())
    else:
        tables()


def run_command(run: Run, args: list[str]) -> int:
    """Run a command by `run`, and return its exit code; an error is printed in one line."""
    starts = exits_quietly()  # Quiet exit at Ctrl-C, until a command begins (`app.Command`).
    with losing_messages():
        try:
            try:
                return _run(run, args)
            finally:
                if starts:
                    exit_quietly()
        except KeyboardInterrupt:
            print_error("interrupted")
            return INTERRUPTED


def _run(run: Run, args: list[str]) -> int:
    """Run a command and return its exit code; print all errors except for `KeyboardInterrupt`."""
    be_quiet(False)
    closed = open_streams()
    try:
        print_every_character()
        if closed:
            raise UserError("standard output is closed")
        for arg in args:
            check_text(arg)
        with watched_by(Watch()):
            code = run(args)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):
        # Typer raises SystemExit only for a broken pipe, since `standalone_mode` is off.
        discard_output()
        return BROKEN_PIPE
    except Interrupted as stop:
        flush_output()
        print_error(f"interrupted: {stop}", stop.hint)
        return INTERRUPTED
    except Exception as error:
        if reader_has_ended(error):
            discard_output()
            return BROKEN_PIPE
        code = report(error, command_given(args))
        flush_output()
    if code == INTERRUPTED:  # Typer's exit code after Ctrl-C.
        print_error("interrupted")
    return code if isinstance(code, int) else 0


def reader_has_ended(error: Exception) -> bool:
    """Return whether the program that reads standard output has ended. On Windows, the error is
    then often EINVAL instead of EPIPE.
    """
    if sys.platform == "win32":
        return isinstance(error, OSError) and error.errno == EINVAL and error.filename is None
    return False


def by_interrupt(error: BaseException | None) -> bool:
    """Return whether Ctrl-C is the cause of this error. For example, Ctrl-C during the creation of
    a class causes a `RuntimeError`.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


class Watch:
    """Display of the steps of a command. The module of the display is imported at the first
    step.
    """

    def __init__(self) -> None:
        self._watch: Watcher | None = None

    def __call__(self, what: str, total: int | None) -> "AbstractContextManager[Step]":
        """Start the display of a step."""
        if self._watch is None:
            from lasthop.cli.watching import watcher

            self._watch = watcher()
        return self._watch(what, total)


def open_streams() -> bool:
    """Open /dev/null for closed standard streams, and return whether standard output was closed.

    If a standard stream stays closed, a file that is opened later gets the descriptor number of the
    stream. Output to the stream would then be written to the file.
    """
    lost = sys.stdout is None
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 stays open
    return lost


def check_text(arg: str) -> None:
    """Refuse an argument with bytes that are not valid text."""
    try:
        arg.encode()
    except UnicodeEncodeError:
        shown = arg.encode(errors="backslashreplace").decode()
        raise UserError(f'argument "{shown}": not text in UTF-8') from None


def report(error: Exception, command: Sequence[str]) -> int:
    """Print an error and return the exit code."""
    from lasthop.cli.words import (
        hint_for_list,
        hint_in_options,
        message_in_options,
        source_in_options,
    )
    from lasthop.extras import (
        PACKAGES_OF_ACTION,
        error_for_action,
        missing,
        missing_package_of,
    )

    name = " ".join(command) or "check"
    match error:
        case ScenarioError(problems=problems):
            for problem in problems[:MAX_PROBLEMS]:
                source = source_in_options(problem.source, problem.setting)
                hint = hint_for_list(source, name) or hint_in_options(problem.hint, name)
                print_error(str(problem._replace(source=source)), hint)
            if len(problems) > MAX_PROBLEMS:
                print_error(f"the scenario has {len(problems) - MAX_PROBLEMS} more errors")
        case UserError():
            print_error(message_in_options(str(error)), hint_in_options(error.hint, name))
        case _ if _is_usage_error(error):
            print_error(*usage_error(error, command))
        case _ if by_interrupt(error) and not isinstance(error, OSError):
            return INTERRUPTED
        case ImportError() if (package := missing_package_of(error)) is not None:
            action = " ".join(["lasthop", *command[:1]])
            known = error_for_action(action) if action in PACKAGES_OF_ACTION else None
            text = known or missing(package, what=" ".join(["lasthop", *command]))
            print_error(str(text), text.hint)
        case OSError(filename=None):
            discard_output()
            print_error(f"standard output: {error.strerror or error}")
        case OSError():
            print_error(f"{error.filename}: {error.strerror or error}")
        case _:
            if os.environ.get("LASTHOP_TRACEBACK") == "1":
                raise error
            message = f"defect of lasthop: {type(error).__name__}: {error}"
            print_error(message, REPORT_HINT)
            return 1
    return USER_ERROR


MEASURING = ("iperf", "iperf3", "flent")
"""Programs whose files are measurements; `lasthop import` does not read these files."""

MEASURED_HINT = (
    "write a scenario by `lasthop init`, and compare it with the measurement of {} by "
    "`lasthop compare SCENARIO --measured FILE`"
)


def _is_usage_error(error: Exception) -> bool:
    """Return whether an error is one of typer, which is not imported if it has read nothing."""
    typer = sys.modules.get("typer")
    return typer is not None and isinstance(error, typer.TyperException)


def usage_error(error: Any, command: Sequence[str]) -> tuple[str, str]:
    """Return message and hint for a wrong command line, in the same form as other errors."""
    from difflib import get_close_matches

    message = error.format_message().rstrip(".")
    message = re.sub(r"^Invalid value for '?(.*?)'?: (?=\")", r"\1 ", message)
    message = re.sub(r"^Invalid value for '?(.*?)'?: ", r"\1: ", message)
    message = re.sub(r" \(Possible options: .*\)$", "", message)
    context: Any = getattr(error, "ctx", None)
    unknown_option = getattr(error, "option_name", "")
    possible = getattr(error, "possibilities", None) or ()
    near = get_close_matches(unknown_option, possible, n=1, cutoff=CLOSE)
    if unknown := re.match(r"No such command '(.*?)'", message):
        message = unknown[0]
        near = get_close_matches(
            unknown[1], getattr(context.command, "commands", ()), n=1, cutoff=CLOSE
        )
    if near:
        return lower_first(message), f"did you mean {near[0]}?"
    parameters = () if context is None else context.command.params
    if setting := setting_of(unknown_option, parameters):
        return lower_first(message), setting
    if unknown_option and "-- COMMAND ..." in (each.metavar for each in parameters):
        return lower_first(message), "write -- before the command of a program"
    if unknown and unknown[1] in MEASURING and list(command[:1]) == ["import"]:
        return lower_first(message), MEASURED_HINT.format(unknown[1])
    if message.endswith("does not take a value"):
        return lower_first(message), f"write {unknown_option} without a value"
    if picture := wrong_picture(message):
        message = picture
    if owners := commands_with(unknown_option):
        return lower_first(message), f"option of {owners}"
    if message.startswith("Missing argument 'FILE'") and " ".join(command) in WITH_SCENARIO:
        return lower_first(message), "run `lasthop init` to write a first scenario file"
    path = " ".join(["lasthop", *command]) if context is None else context.command_path
    return lower_first(message), f"run `{path} --help` for the accepted arguments and options"


def setting_of(option: str, parameters: Sequence[Any]) -> str:
    """Return the hint for an unknown option that has the name of a key of scenarios; empty for
    other options, and for commands without --set.
    """
    if not any("--set" in parameter.opts for parameter in parameters):
        return ""
    from json import loads

    from lasthop import _core
    from lasthop.cli.command_line import given_after
    from lasthop.shell import command_text

    key = option.removeprefix("--")
    if key not in loads(_core.schema())["properties"]:
        return ""
    value = given_after(option)
    if value is None or value.startswith("-"):
        return f"write `--set {key}=VALUE`"
    return f"write `{command_text(['--set', f'{key}={value}'])}`"


def wrong_picture(message: str) -> str | None:
    """Return the error of a picture's name that typer read as an unexpected argument; None if there
    is no such name.

    The name after ``--plot`` is optional, so that a name without the suffix of a picture is read as
    the next argument.
    """
    from lasthop.answers.pictures import wrong_name
    from lasthop.cli.command_line import given_after

    unexpected = re.search(r"unexpected extra argument\(s\) \((.*)\)$", message)
    name = given_after("--plot")
    if unexpected is None or name is None:
        return None
    is_extra = name == unexpected[1] or name in unexpected[1].split()
    is_other = name.startswith("-") or os.path.exists(name)
    return f"--plot {wrong_name(name)}" if is_extra or not is_other else None


def commands_with(option: str) -> str:
    """Return the names of the commands that have an option; empty for none or for more than
    `MAX_OWNERS`."""
    from lasthop.cli.completion.answering import read_table

    commands = read_table().commands
    names = [
        f"`{f'lasthop {name}'.rstrip()}`"
        for name in commands
        if option in commands[name].get("options", ())
    ]
    return " and ".join(names) if len(names) <= MAX_OWNERS else ""


def print_error(message: str, hint: str | None = None) -> None:
    """Print an error in one line, and its remedy in a second line if there is one."""
    from lasthop.cli.progress import take_away

    take_away()
    print(f"error: {one_line(message)}", file=sys.stderr)
    if hint:
        print(f"hint: {one_line(hint)}", file=sys.stderr)


def warn(*lines: str) -> None:
    """Print warnings on standard error. A user must read the warnings before trusting a result."""
    for line in () if is_quiet() else lines:
        print(f"warning: {line}", file=sys.stderr)


def print_warnings(*answers: "Prediction | Result | Emulation") -> None:
    """Print the warnings of results on standard error, each once."""
    warn(*dict.fromkeys(line for answer in answers for line in answer.warnings))


def note(line: str, *, err: bool = False) -> None:
    """Print a note, such as the name of a written file; on standard error if `err` is true."""
    if not is_quiet():
        echo(line, err=err)


def one_line(text: str) -> str:
    """Return the text without line breaks and control characters."""
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))


def lower_first(text: str) -> str:
    """Return the text with a lower-case first letter, unless it begins with an abbreviation."""
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


def flush_output() -> None:
    """Flush standard output before an error is printed; ignore an error of standard output."""
    try:
        sys.stdout.flush()
    except OSError:
        discard_output()


def discard_output() -> None:
    """Redirect standard output to /dev/null, so that the interpreter can flush it at its end."""
    discard(sys.stdout)
