"""Arguments and options that several commands have in common."""

import errno
import re
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Annotated, Any

from lasthop.cli.boundary import note
from lasthop.cli.declared import argument, bad_parameter, option
from lasthop.cli.limits import kept_disciplines
from lasthop.errors import ScenarioError, UserError
from lasthop.progress.cost_limits import MAX_MEMORY_BYTES, MAX_TIME_S
from lasthop.scenario.files import NO_FILE
from lasthop.scenario.scenario import Scenario, blaming

AGGREGATES = "downlink_mpdus_per_ppdu"
"""Name of a quantity: mean number of MPDUs in the access point's aggregates to a station."""

File = Annotated[str, argument(metavar="FILE", help="Scenario, TOML or JSON; - is standard input.")]


def file_name(text: object) -> Path:
    """Return the path from an option that names a file or directory."""
    if not str(text).strip():
        raise bad_parameter("the name is empty")
    return Path(str(text))


def unset(metavar: str, text: str, *names: str, **more: Any) -> Any:
    """Return an option whose help shows no default."""
    return option(None, *names, metavar=metavar, help=text, show_default=False, **more)


def preset(default: Any, metavar: str, text: str, *names: str, **more: Any) -> Any:
    """Return an option whose help shows its default."""
    return option(default, *names, metavar=metavar, help=text, **more)


def flag(name: str, text: str, *short: str, default: bool | None = False) -> Any:
    """Return an option that is a flag, without a value."""
    return option(default, name, *short, help=text, show_default=False)


NOT_WRITABLE = (errno.ENOENT, errno.EPERM, errno.EACCES, errno.EROFS)
"""System error numbers that mean that no file can be created in an existing directory."""


def out_option(text: str, default: Path | None = None) -> Any:
    """Return the option --out, a directory; `text` describes the files that the command writes."""
    text = f"Write files to this place and print the name of each file. {text}"
    return preset(default, "DIR", text, parser=file_name, show_default=default is not None)


JSON = flag("--json", "Print JSON instead of tables.")
SETTINGS = unset("PATH=VALUE", "Replace a value, such as cell.ap.cwmin=15.", "--set")
# The value stays a text, because the engine checks it like the key `replications`.
REPLICATIONS = unset(
    "N", "Run this many independent replications; by default as many as the scenario sets."
)
SEED = unset("N", "Set the seed of all random streams; by default the scenario's seed.")


def thread_count(text: str) -> int:
    """Return the number of threads from --jobs."""
    from lasthop.simulation.simulate import MAX_JOBS

    return whole_number(text, 1, MAX_JOBS, "a number of threads")


def whole_number(text: str, least: int, most: int, what: str) -> int:
    """Return the whole number from an option; `what` describes the number in errors."""
    # As in scenario files, a number has no leading zeros.
    plain = re.fullmatch(r"0|[1-9][0-9]*", text) and len(text) <= len(str(most))
    if not plain or not least <= int(text) <= most:
        raise bad_parameter(f'"{text}": expected {what} from {least} to {most}')
    return int(text)


def number_of(default: int, least: int, most: int, text: str) -> Any:
    """Return an option N, a whole number from `least` to `most`."""

    def parse(given: object) -> int:
        return whole_number(str(given), least, most, "a whole number")

    return preset(default, "N", f"{text} N is from {least} to {most}.", parser=parse)


def cost(text: object, units: Sequence[tuple[float, str]], example: str) -> float:
    """Return the value of an option that limits time or memory. [s] or [bytes]"""
    if isinstance(text, float):  # The default value is a number.
        return text
    match = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?) ?([A-Za-z]+)", str(text).strip())
    scale = next((scale for scale, unit in units if match and unit == match[2]), None)
    try:
        value = float(match[1]) * scale if match and scale else 0.0
    except ValueError:
        value = 0.0
    if not 0.0 < value < inf:
        names = ", ".join(unit for _, unit in units)
        raise bad_parameter(
            f'"{text}": expected a number above 0 with a unit ({names}), such as {example}'
        )
    return value


def cost_of_time(text: object) -> float:
    """Return the value of --max-time. [s]"""
    from lasthop.progress.cost_limits import TIMES

    return cost(text, TIMES, "10min")


def cost_of_memory(text: object) -> float:
    """Return the value of --max-memory. [bytes]"""
    from lasthop.progress.cost_limits import MEMORIES

    return cost(text, MEMORIES, "8GB")


def time_limit(text: str) -> Any:
    """Return the option --max-time, with its default."""
    more = {"parser": cost_of_time, "show_default": "60s"}
    return preset(MAX_TIME_S, "TIME", text, "--max-time", **more)


def memory_limit(text: str) -> Any:
    """Return the option --max-memory, with its default."""
    more = {"parser": cost_of_memory, "show_default": "2GB"}
    return preset(MAX_MEMORY_BYTES, "SIZE", text, "--max-memory", **more)


MAX_TIME = time_limit(
    "Refuse a computation of a model or solver that would take more than this time."
)
READING_TIME = time_limit("Refuse a capture if reading it would take more than this time.")
MAX_MEMORY = memory_limit(
    "Refuse a computation of a model or solver that would need more than this memory."
)
RUN_TIME = unset(
    "TIME",
    "Refuse a run that would take more than this time, by an estimate after half a second; by "
    "default no run is refused.",
    "--max-time",
    parser=cost_of_time,
)
SERIES_MEMORY = memory_limit("Refuse time series whose table would need more than this memory.")
JOBS = unset("N", "Use this many threads; by default one per processor.", parser=thread_count)
OPTIONS = unset("NAME=VALUE", "Set an option of the model, such as beta=1.2.", "--option")


def model_options(given: list[str] | None) -> dict[str, str]:
    """Return the values of --option by name. If the option `aggregates` names a saved run, the
    aggregate sizes of the run are inserted.
    """
    options = dict(pairs(given or [], "--option", "NAME=VALUE", "beta=1.2"))
    sizes = options.get("aggregates")
    if sizes is not None and "=" not in sizes:
        options["aggregates"] = aggregates_of(sizes)
    return options


def aggregates_of(path: str) -> str:
    """Return the mean number of MPDUs per PPDU to each station of a saved run, as NAME=SIZE,..."""
    from lasthop.answers.estimates import Estimate
    from lasthop.answers.load import load

    summary = getattr(load(path), "summary", {})
    sizes = [
        (station["name"], Estimate.read(station.get(AGGREGATES)))
        for station in summary.get("stations", ())
    ]
    results = [f"{name}={size.mean:.6g}" for name, size in sizes if size and size.mean]
    if not results:
        raise UserError(f"--option aggregates={path}: the result has no aggregates to stations")
    return ",".join(results)


def read_scenario(
    file: str,
    settings: list[str] | None = None,
    *,
    replications: str | None = None,
    seed: str | None = None,
    series: str | None = None,
) -> Scenario:
    """Read the scenario in `file` and apply the options of the command line."""
    options = [
        ("--replications", "replications", replications),
        ("--seed", "seed", seed),
        ("--series", "record.series_interval", series),
    ]
    given = [(option, path, value) for option, path, value in options if value is not None]
    every = pairs(settings or [], "--set", "PATH=VALUE", "cell.ap.cwmin=15")
    every += [(path, value) for _, path, value in given]
    with blaming({path: as_given(option, value) for option, path, value in given}):
        try:
            scenario = Scenario(file if file in ("", "-") else Path(file), every)
        except ScenarioError as error:
            [problem, *others] = error.problems
            if problem.message == NO_FILE and not problem.hint and file.endswith(".toml"):
                hint = f"run `lasthop init {file}` to write a first scenario"
                raise ScenarioError([problem._replace(hint=hint), *others]) from None
            raise
    for line in kept_disciplines(scenario):
        note(f"note: {line}", err=True)
    return scenario


def as_given(option: str, value: str) -> str:
    """Return an option with its value for a message. An empty value is quoted, and a value that
    begins or ends with a space.
    """
    return f"{option} {value}" if value and value == value.strip() else f'{option} "{value}"'


def pairs(given: list[str], option: str, form: str, example: str) -> list[tuple[str, str]]:
    """Return the values of an option such as --set as pairs: the text before and after ``=``.

    `form` is the option's metavar, such as ``PATH=VALUE``; `example` is shown as a remedy.
    """
    for text in given:
        if "=" not in text or text.startswith("="):
            raise UserError(f'{option} "{text}": expected {form}', f"write {option} {example}")
    return [(path.strip(), value.strip()) for path, _, value in (t.partition("=") for t in given)]


def counted(number: int, what: str, several: str | None = None) -> str:
    """Return a number with its noun, such as ``3 runs``; `several` is an irregular plural."""
    return f"{number} {what if number == 1 else several or f'{what}s'}"


def stem(scenario: Scenario) -> str:
    """Return the beginning of the names of output files: the name of the scenario's file."""
    return "scenario" if scenario.source.startswith("<") else Path(scenario.source).stem


def writable(directory: Path, option: str = "--out", file: Path | None = None) -> Path:
    """Return the directory; raise an error now, before the run, if it is not writable. The error
    names the file that is to be written in the directory, if there is one.
    """
    import os
    from tempfile import TemporaryDirectory

    check_reachable(directory, option)
    if directory.is_symlink() and not directory.exists():
        missing = f"is a link to {directory.readlink()}, which does not exist"
        raise UserError(f"{option} {directory}: {missing}: expected a directory")
    where = f"{option} {file or directory}"
    nearest = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not nearest.is_dir():
        raise UserError(f"{option} {directory}: {nearest} is a file: expected a directory")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UserError(f"{where}: the directory {nearest} is not writable")
    try:  # `os.access` is sometimes wrong, for example in /proc.
        with TemporaryDirectory(dir=nearest, prefix=".trying-"):
            pass
    except OSError as error:
        if error.errno in NOT_WRITABLE:
            raise UserError(f"{where}: the directory {nearest} is not writable") from None
        raise UserError(f"{where}: {nearest}: {error.strerror}") from None
    return directory


def check_reachable(path: Path, option: str) -> None:
    """Refuse a path that no file can have, such as a name that is too long."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        reason = f"{error.strerror}: expected another name"
        raise UserError(f"{option} {path}: {reason}") from None


def writable_file(path: Path, option: str, scenario: str = "") -> Path:
    """Return the path; raise an error if it is not writable, or if it is the scenario's file."""
    check_reachable(path, option)
    if path.is_file() and Path(scenario).is_file() and path.samefile(scenario):
        raise UserError(
            f"{option} {path}: is the scenario, which would be overwritten: expected another name"
        )
    if path.is_dir():
        raise UserError(f"{option} {path}: is a directory: expected a file")
    if not path.parent.is_dir():
        raise UserError(f"{option} {path}: the directory {path.parent} does not exist")
    writable(path.parent, option, path)
    return path
