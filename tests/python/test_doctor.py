"""`lasthop doctor`: reasons why commands do not run, on machines that tests describe."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

import lasthop as lh
from lasthop import linux_only
from lasthop.cli import main
from lasthop.cli.app import app
from lasthop.cli.boundary import USER_ERROR
from lasthop.doctor import diagnosis, doctor, probe
from lasthop.doctor.commands import COMMANDS, GROUPS
from lasthop.doctor.limits import KINDS, Need
from lasthop.doctor.machine import (
    LOADABLE,
    MISSING,
    Linux,
    Machine,
    Refusal,
)
from lasthop.doctor.states import FAILS, PARTLY, RUNS, CommandState
from lasthop.extras import EXTRA_OF_PACKAGE, PACKAGES_OF_EXTRA
from lasthop.linux import rights
from lasthop.uml import kernel, source
from lasthop.workbench.files import page

from .conftest import EXAMPLES

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "doctor.md"
GATEWAY = '[gateway]\nwan = "eth0"\nlan = "eth1"\nstation.till.address = "10.0.0.5"\n'
HOTSPOT = str(EXAMPLES / "hotspot.toml")

REFUSED = Refusal("refused for a test", "allow it")


def on_linux(**facts: Any) -> Machine:
    """Return a machine on which everything runs, except what these facts about Linux prevent."""
    return Machine(linux=replace(Linux(), **facts))


def lacking_modules(*names: str) -> Machine:
    """Return a machine whose kernel lacks these modules."""
    return on_linux(modules=dict.fromkeys(names, MISSING))


def without_part(name: str) -> Machine:
    """Return a machine with a build that lacks a part."""
    return Machine(left_out={name: REFUSED})


USER = on_linux(
    is_root=False, missing_capability="CAP_NET_ADMIN", network_namespaces_refusal=REFUSED
)
MAC = Machine(system="Darwin", platform="darwin", linux=None, uml_refusal=REFUSED)
NO_REPORT = Machine(report_refusal=REFUSED)

CASES: Mapping[str, tuple[Machine, str, str, str | None, str, str]] = {
    # name: machine, command, state, part, kind, part of the reason
    "gateway on macOS": (MAC, "gateway up", FAILS, None, "system", "`lasthop gateway` needs Linux"),
    "relay on macOS": (MAC, "relay serve", FAILS, None, "system", "`lasthop relay` needs Linux"),
    "queue on macOS": (MAC, "queue run", FAILS, None, "system", "`lasthop queue` needs Linux"),
    "congestion load on macOS": (MAC, "congestion load", FAILS, None, "system", "needs Linux"),
    "emulate on macOS": (MAC, "emulate", FAILS, None, "system", "`lasthop emulate` needs Linux"),
    "kernel build on macOS": (
        MAC,
        "kernel build",
        FAILS,
        None,
        "system",
        "`lasthop kernel` needs Linux",
    ),
    "no emulator": (without_part("emulator"), "emulate", PARTLY, "real time", "build", "refused"),
    "kernel build without emulator": (
        without_part("emulator"),
        "kernel build",
        FAILS,
        None,
        "build",
        "refused",
    ),
    "no gateway": (without_part("gateway"), "gateway plan", FAILS, None, "build", "ref"),
    "no queue": (without_part("queue"), "queue plan", FAILS, None, "build", "refused"),
    "no relay": (without_part("relay"), "relay key", FAILS, None, "build", "refused"),
    "gateway up without root": (USER, "gateway up", FAILS, None, "rights", "has no CAP_NET_ADMIN"),
    "queue check without root": (
        USER,
        "queue check",
        PARTLY,
        "test of this machine",
        "rights",
        "this needs CAP_NET_ADMIN",
    ),
    "gateway status without root": (
        USER,
        "gateway status",
        PARTLY,
        "services of root",
        "rights",
        "only root",
    ),
    "emulate without root": (USER, "emulate", PARTLY, "real time", "rights", "refused for a test"),
    "compare without root": (USER, "compare", PARTLY, "--emulate", "rights", "refused for a test"),
    "congestion unload without root": (
        USER,
        "congestion unload",
        FAILS,
        None,
        "rights",
        "only root",
    ),
    "congestion list without root": (
        USER,
        "congestion list",
        PARTLY,
        "origins",
        "rights",
        "only root",
    ),
    "no tun": (on_linux(tun_refusal=REFUSED), "emulate", PARTLY, "real time", "rights", "refused"),
    "no uml": (Machine(uml_refusal=REFUSED), "emulate", PARTLY, "--virtual", "program", "refused"),
    "no uml to compare": (
        Machine(uml_refusal=REFUSED),
        "compare",
        PARTLY,
        "--virtual",
        "program",
        "ref",
    ),
    "no ptrace": (on_linux(has_ptrace=False), "emulate", PARTLY, "--virtual", "rights", "ptrace"),
    "no build": (
        on_linux(kernel_build_refusal=REFUSED),
        "kernel build",
        FAILS,
        None,
        "program",
        "refused",
    ),
    "no nat": (lacking_modules("nft_masq"), "emulate", PARTLY, "--uplink", "kernel", "nft_masq"),
    "no bpf": (
        on_linux(bpf_refusal=REFUSED),
        "gateway up",
        PARTLY,
        "BPF programs",
        "kernel",
        "u32 filters classify instead",
    ),
    "no htb": (
        on_linux(missing_gateway_feature="no HTB scheduler (module sch_htb)"),
        "gateway check",
        FAILS,
        None,
        "kernel",
        "this machine has no HTB scheduler",
    ),
    "untested": (
        on_linux(gateway_is_tested=False),
        "gateway up",
        PARTLY,
        "test of the kernel",
        "kernel",
        "a test could load modules",
    ),
    "fifo leaves": (
        lacking_modules("sch_fq_codel", "sch_codel"),
        "gateway run",
        PARTLY,
        "fq_codel or CoDel in leaf queues",
        "kernel",
        "leaf queues are FIFOs",
    ),
    "no tbf": (
        lacking_modules("sch_tbf"),
        "queue up",
        FAILS,
        None,
        "kernel",
        "no tbf (CONFIG_NET_S",
    ),
    "no htb for a queue": (lacking_modules("sch_htb"), "queue up", FAILS, None, "kernel", "HTB"),
    "no red": (
        lacking_modules("sch_red"),
        "queue check",
        PARTLY,
        "some queues",
        "kernel",
        "this kernel has no red (CONFIG_NET_SCH_RED)",
    ),
    "no struct_ops": (
        on_linux(congestion_loading_refusal=REFUSED),
        "congestion load",
        FAILS,
        None,
        "rights",
        "refused",
    ),
    "no compound": (
        on_linux(congestion_loading_refusal=REFUSED),
        "emulate",
        PARTLY,
        "Compound",
        "rights",
        "refused",
    ),
    "no page": (
        Machine(page_refusal=REFUSED),
        "workbench",
        FAILS,
        None,
        "program",
        "refused for a test",
    ),
    "no template": (NO_REPORT, "simulate", PARTLY, "--report", "program", "refused for a test"),
    **{
        f"no {package} for {command}": (
            Machine(missing_packages=frozenset({package})),
            command,
            state,
            part,
            "package",
            f"{package.replace('_', '-')}",
        )
        for package, command, state, part in (
            ("numpy", "predict", FAILS, None),
            ("matplotlib", "predict", PARTLY, "--plot"),
            ("pandas", "simulate", PARTLY, "Parquet files"),
            ("scipy", "predict", PARTLY, "some models"),
            ("matplotlib", "simulate", PARTLY, "--plot"),
            ("scipy", "compare", PARTLY, "some models"),
            ("scipy", "explain", PARTLY, "FILE"),
            ("pyarrow", "sweep", PARTLY, "Parquet files"),
            ("distributed", "sweep", PARTLY, "--cluster"),
            ("submitit", "reproduce", PARTLY, "--slurm"),
            ("scipy", "what-if", FAILS, None),
            ("pyarrow", "what-if", PARTLY, "Parquet files"),
            ("scipy", "tune", PARTLY, "some models"),
            ("pyarrow", "tune", PARTLY, "Parquet files"),
            ("matplotlib", "plot", FAILS, None),
            ("matplotlib", "reproduce", FAILS, None),
            ("dpkt", "import pcap", FAILS, None),
            ("starlette", "workbench", FAILS, None),
            ("prometheus_client", "gateway up", PARTLY, "metrics"),
            ("prometheus_client", "relay serve", PARTLY, "metrics"),
            ("numpy", "stability models", FAILS, None),
            ("scipy", "stability models", PARTLY, "CASE"),
            ("matplotlib", "stability chart", PARTLY, "--plot and --out"),
            ("scipy", "stability equilibrium", FAILS, None),
            ("scipy", "stability roots", FAILS, None),
            ("scipy", "stability hopf", FAILS, None),
            ("scipy", "stability normal-form", FAILS, None),
            ("scipy", "stability cycle", FAILS, None),
            ("scipy", "stability integrate", FAILS, None),
            ("scipy", "stability chart", FAILS, None),
        )
    },
}


def state(machine: Machine, command: str) -> CommandState:
    [result] = doctor(command, machine=machine).commands
    return result


@pytest.mark.parametrize("name", CASES)
def test_each_reason_is_reported(name: str) -> None:
    machine, command, expected, part, kind, reason = CASES[name]
    result = state(machine, command)
    assert result.state == expected
    [limit] = [each for each in result.limits if each.part == part]
    assert limit.kind == kind
    assert reason in limit.reason
    assert limit.remedy


def needs() -> Iterator[Need]:
    for command in COMMANDS.values():
        yield from command.needs


def test_each_need_of_a_command_has_a_case() -> None:
    machines = [machine for machine, *_ in CASES.values()]
    machines.append(Machine(linux=None, platform="win32", uml_refusal=REFUSED))
    untried = {
        f"{need.kind}, {need.part}"
        for need in needs()
        if not any(list(need.limits(machine)) for machine in machines)
    }
    assert untried == set()
    assert {need.kind for need in needs()} == set(KINDS)


def test_on_a_complete_machine_every_command_runs() -> None:
    result = doctor(machine=Machine())
    assert {each.state for each in result.commands} == {RUNS}
    assert [each for each in result.commands if each.limits] == []
    assert {each.remedy for each in result.extras} == {None}


def commands() -> dict[str, Any]:
    """Return the commands of the command line that are not groups, by name."""
    root: Any = typer.main.get_command(app)
    return {
        f"{name} {inner}".strip(): each
        for name, command in root.commands.items()
        for inner, each in getattr(command, "commands", {"": command}).items()
    }


def test_commands_are_those_of_the_command_line() -> None:
    assert set(COMMANDS) == set(commands())


PARTS = {"--plot": "matplotlib", "--cluster": "distributed", "--slurm": "submitit"}


@pytest.mark.parametrize("option", [*PARTS, "--report"])
def test_each_command_with_an_option_has_its_need(option: str) -> None:
    absent = frozenset({PARTS[option]}) if option in PARTS else frozenset[str]()
    machine = Machine(report_refusal=REFUSED, missing_packages=absent)
    for name, command in commands().items():
        options = {each for parameter in command.params for each in parameter.opts}
        result = state(machine, name)
        parts = {word for each in result.limits for word in (each.part or "").split()}
        assert (option in options) <= (result.state == FAILS or option in parts), name
        assert (option in parts) <= (option in options), name


def test_a_command_that_needs_another_system_reports_nothing_else() -> None:
    machine = replace(MAC, left_out={"relay": REFUSED})
    assert [each.kind for each in state(machine, "relay serve").limits] == ["system"]


def test_a_command_without_alternatives_does_not_run() -> None:
    machine = replace(USER, uml_refusal=REFUSED, report_refusal=REFUSED)
    result = state(machine, "emulate")
    assert result.state == FAILS
    assert [each.part for each in result.limits] == ["real time", "--virtual"]


def test_parts_of_a_part_that_does_not_run_are_not_reported() -> None:
    assert USER.linux is not None
    linux = replace(USER.linux, congestion_loading_refusal=REFUSED, modules={"nf_tables": MISSING})
    assert [each.part for each in state(Machine(linux=linux), "emulate").limits] == ["real time"]


def test_a_missing_package_is_reported_with_each_of_its_extras() -> None:
    result = doctor("check", machine=Machine(missing_packages=frozenset({"numpy"})))
    lacking = {each.name: each for each in result.extras if each.missing}
    assert set(lacking) == {
        name for name, packages in PACKAGES_OF_EXTRA.items() if "numpy" in packages
    }
    assert lacking["learn"].missing == ("numpy",)
    assert lacking["learn"].remedy == 'pip install "lasthop[learn]"'


def test_features_of_the_build_are_those_of_cargo() -> None:
    assert Machine(left_out={"queue": REFUSED}).features == {
        "emulator": True,
        "enforce": False,
        "relay": True,
    }
    assert probe.left_out_parts() == {}


def test_a_feature_that_is_left_out_has_the_error_of_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent(*_: object) -> None:
        raise lh.UserError("relay: not part of this build of lasthop")

    monkeypatch.setattr("lasthop._core.new_relay_key", absent)
    assert probe.left_out_parts() == {
        "relay": ("relay: not part of this build of lasthop", probe.COMPLETE_BUILD)
    }


# -- command line ------------------------------------------------------------------------------


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that describes the machine that the command examines."""

    def describe(machine: Machine) -> None:
        monkeypatch.setattr(diagnosis, "examine", lambda: machine)

    return describe


def test_the_exit_code_is_zero_without_commands(described: Any) -> None:
    described(MAC)
    assert main(["doctor"]) == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [(["emulate"], 1), (["simulate", "gateway"], 1), (["gateway", "plan"], 1), (["compare"], 0)],
)
def test_the_exit_code_tells_whether_commands_run(
    words: list[str], code: int, described: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    described(replace(MAC, uml_refusal=REFUSED))
    assert main(["doctor", *words]) == code
    assert not capsys.readouterr().out.startswith("lasthop")


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "emulat"]) == USER_ERROR
    expected = (
        "unknown command: expected a command or a group of `lasthop --help`, or a heading of "
        "`lasthop doctor`\n"
    )
    printed = capsys.readouterr().err
    assert (
        printed == f'error: COMMAND: "emulat": {expected}hint: did you mean emulate or simulate?\n'
    )
    assert main(["doctor", "foo"]) == USER_ERROR
    assert capsys.readouterr().err == f'error: COMMAND: "foo": {expected}'
    assert main(["doctor", "up"]) == USER_ERROR
    assert "hint: did you mean gateway up or queue up?\n" in capsys.readouterr().err


@pytest.mark.parametrize("heading", [*GROUPS, "other commands"])
def test_a_heading_names_its_commands(heading: str) -> None:
    groups = {each.group for each in doctor(heading, machine=Machine()).commands}
    assert [each.lower() for each in groups] == [heading.lower()]


@pytest.mark.parametrize("machine", [machine for machine, *_ in CASES.values()])
def test_lines_have_at_most_80_characters(machine: Machine) -> None:
    text = str(doctor(machine=machine))
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("width", range(20, 80))
def test_lines_of_narrow_screens_are_short(width: int) -> None:
    machine = Machine(missing_packages=frozenset(EXTRA_OF_PACKAGE))
    text = doctor(machine=machine).text(width)
    assert max(len(line) for line in text.splitlines() if line not in GROUPS) <= width


def test_commands_with_the_same_state_share_a_line() -> None:
    text = str(doctor(machine=Machine(missing_packages=frozenset(EXTRA_OF_PACKAGE))))
    assert "  init, schema, check  runs\n" in text
    assert text.count("stability            does not run: package scipy is not installed") == 1
    assert text.count("stability models     does not run: package numpy is not installed") == 1
    assert "lasthop stability" not in text
    assert 'extra slurm          lacks submitit; run `pip install "lasthop[slurm]"`' in text


def test_a_command_in_a_remedy_is_not_broken() -> None:
    machine = Machine(missing_packages=frozenset(EXTRA_OF_PACKAGE))
    for width in range(72, 100):
        text = doctor(machine=machine).text(width)
        assert text.count("`") == 2 * len(re.findall("`[^`\n]+`", text)) > 0


def test_absent_facts_of_linux_are_none() -> None:
    linux = Linux(modules={"tcp_bbr": LOADABLE})
    assert "congestion controls  none; loadable: bbr\n" in str(doctor(machine=Machine(linux=linux)))
    assert "user-mode Linux" not in str(doctor(machine=MAC))


def paths(value: Any, at: str = "") -> Iterator[str]:
    """Yield the path of each value in JSON. Mappings with names as keys are single values."""
    if isinstance(value, dict) and at not in ("linux.modules", "linux.programs"):
        for key, each in value.items():
            yield from paths(each, f"{at}.{key}".lstrip("."))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for each in value:
            yield from paths(each, f"{at}[]")
    else:
        yield at


def test_the_keys_of_json_are_documented(
    described: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    described(USER)
    assert main(["doctor", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    value["linux"]["network_namespaces_refusal"] = None
    rows = [line.split("|") for line in PAGE.read_text("utf-8").splitlines()]
    documented = {row[1].strip().strip("`") for row in rows if len(row) == 4 and "`" in row[1]}
    assert set(paths(value)) == documented


# -- the same messages as those of commands -------------------------------------------------------


def printed_error(capsys: pytest.CaptureFixture[str]) -> tuple[str, str | None]:
    """Return the last printed error and its hint."""
    lines = capsys.readouterr().err.splitlines()
    at = max(number for number, line in enumerate(lines) if line.startswith("error: "))
    hints = [line.removeprefix("hint: ") for line in lines[at + 1 :]]
    return lines[at].removeprefix("error: "), hints[0] if hints else None


def test_emulate_and_doctor_agree_about_a_missing_kernel(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel, "candidates", list)
    assert main(["emulate", HOTSPOT, "--virtual"]) == USER_ERROR
    assert probe.find_uml() == (printed_error(capsys), None)


def test_kernel_build_and_doctor_agree_about_a_missing_source(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(source, "INSTALLED", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("lasthop.uml.kernel.check_machine", lambda: None)
    assert main(["kernel", "build"]) == USER_ERROR
    assert probe.check_kernel_build() == printed_error(capsys)


def test_gateway_and_doctor_agree_about_a_missing_capability(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "cafe.toml"
    file.write_text(GATEWAY)
    monkeypatch.setattr(rights, "lacking", lambda: "CAP_NET_ADMIN")
    monkeypatch.setattr("lasthop.linux.rights.os.geteuid", lambda: 1000)
    assert main(["gateway", "up", str(file)]) == USER_ERROR
    [limit] = state(USER, "gateway up").limits
    assert (limit.reason, limit.remedy) == printed_error(capsys)


@pytest.mark.parametrize(
    "args",
    [
        ["gateway", "down", "cafe.toml"],
        ["relay", "serve", "key"],
        ["congestion", "load", "compound"],
    ],
    ids=lambda args: args[0],
)
def test_commands_and_doctor_agree_about_another_system(
    args: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(linux_only, "sys", SimpleNamespace(platform="darwin"))
    if args[0] == "relay":
        args = ["relay", "serve", "--key", "key"]
    assert main(args) == USER_ERROR
    [limit] = state(MAC, " ".join(args[:2])).limits
    assert (limit.reason, limit.remedy) == printed_error(capsys)


@pytest.mark.parametrize(
    ("args", "command"),
    [
        (["predict", HOTSPOT], "predict"),
        (["compare", HOTSPOT], "compare"),
        (["tune", HOTSPOT, "--for", "throughput"], "tune"),
        (["stability", "models"], "stability models"),
        (["stability", "roots", "red-fig2a"], "stability roots"),
        (["workbench"], "workbench"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_commands_and_doctor_agree_about_a_missing_package(
    args: list[str],
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("lasthop.extras.is_installed", lambda package: False)
    assert main(args) == USER_ERROR
    [limit] = state(Machine(missing_packages=frozenset(EXTRA_OF_PACKAGE)), command).limits
    assert (limit.reason, limit.remedy) == printed_error(capsys)


def test_workbench_and_doctor_agree_about_a_missing_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("lasthop.workbench.files.PAGE", tmp_path)
    assert main(["workbench"]) == USER_ERROR
    assert probe.error_of(page) == printed_error(capsys)
