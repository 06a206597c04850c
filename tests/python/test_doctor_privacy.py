"""`lasthop doctor`: the report contains no private data."""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lasthop.cli import main
from lasthop.doctor import diagnosis, doctor, privacy, probe
from lasthop.doctor.machine import Linux, Machine, Refusal
from lasthop.uml import kernel

Print = Callable[[str], str]


@pytest.fixture(autouse=True)
def machine_with_uml(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this machine support simulated time, and have no user but the tests' own."""
    monkeypatch.setattr(kernel, "check_machine", lambda: None)
    for name in (kernel.VARIABLE, "XDG_CACHE_HOME", *privacy.USER_VARIABLES):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Print:
    """Return a function that returns the report of a machine with this message."""

    def report(message: str) -> str:
        planted = Refusal(message, message)
        linux = replace(
            Linux(), tun_refusal=planted, kernel_build_refusal=planted, bpf_refusal=planted
        )
        machine = Machine(uml_refusal=planted, page_refusal=planted, linux=linux)
        monkeypatch.setattr(diagnosis, "examine", lambda: machine)
        assert main(["doctor"]) == 0
        assert main(["doctor", "--json"]) == 0
        return re.sub(r"\s+", " ", capsys.readouterr().out)

    return report


def redacted(text: str) -> str:
    return privacy.redact(text, privacy.replacements())


def test_private_texts_are_replaced(monkeypatch: pytest.MonkeyPatch, shown: Print) -> None:
    home, user, named = "/srv/people/adalovelace", "adalovelace", "/opt/secret/linux"
    monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("USER", user)
    monkeypatch.setenv(kernel.VARIABLE, named)
    monkeypatch.setenv("XDG_CACHE_HOME", f"{home}/cache")
    printed = shown(f"{home}/linux: no; /run/{user}/x: no; {named}: no; {home}/cache/x: no")
    assert "~/linux: no; /run/USER/x: no; ...: no; $XDG_CACHE_HOME/x: no" in printed
    for private in (user, home, named, "people", "secret"):
        assert private not in printed


def test_texts_are_replaced_only_as_whole_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert redacted("/home/ada/x /home/adam/x /home/ada: no") == "~/x /home/adam/x ~: no"


@pytest.mark.parametrize("written", ["{}/pubx//alice-cache", "{}/./pubx/alice-cache/", "{}/link"])
def test_each_form_of_a_path_is_replaced(
    written: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "pubx" / "alice-cache"
    folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(folder)
    named = written.format(tmp_path)
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    for form in (named.rstrip("/"), os.path.normpath(named), str(Path(named).resolve())):
        assert redacted(f"{form}/kernels: no") == "$XDG_CACHE_HOME/kernels: no"


def test_a_user_who_is_not_in_the_list_of_users_has_a_private_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(number: int) -> object:
        raise KeyError(f"getpwuid(): uid not found: {number}")

    pwd = pytest.importorskip("pwd", reason="Windows has no such list")
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setenv("HOME", "/")
    monkeypatch.setenv("XDG_CACHE_HOME", "/srv/alice-cache")
    assert redacted("/srv/alice-cache/x: no") == "$XDG_CACHE_HOME/x: no"


def test_the_user_of_sudo_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_USER", "alice")
    assert redacted("/home/alice/x: no") == "/home/USER/x: no"


@pytest.mark.parametrize("written", ["secret//garb", "secret/garb", "./secret/link", "e"])
def test_a_named_kernel_is_private(
    written: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "secret"
    folder.mkdir()
    for file in (folder / "garb", tmp_path / "e"):
        file.write_text("#!/bin/sh\necho hello\n")
        file.chmod(0o755)
    (folder / "link").symlink_to(folder / "garb")
    for named in (written, str(tmp_path / written)):
        monkeypatch.setenv(kernel.VARIABLE, named)
        expected = Refusal("LASTHOP_UML=...: expected a user-mode Linux", kernel.OTHERS)
        assert probe.find_uml() == (expected, None)


def test_a_kernel_that_lacks_an_option_is_private(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    target.write_text('#!/bin/sh\n[ "$1" = --version ] && echo 6.1.0-alice || echo CONFIG_UML=y\n')
    target.chmod(0o755)
    (tmp_path / "link").symlink_to(target)
    monkeypatch.setenv(kernel.VARIABLE, str(tmp_path / "link"))
    refusal, _ = probe.find_uml()
    assert refusal is not None
    assert refusal.reason.startswith("LASTHOP_UML=...: Linux 6.1.0 lacks CONFIG_")
    monkeypatch.setattr(kernel, "NEEDED", ())
    assert probe.find_uml() == (None, "6.1.0")


def test_a_short_name_of_a_kernel_changes_no_other_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernel.VARIABLE, "e")
    machine = Machine(missing_packages=frozenset({"scipy"}))
    [limit] = doctor("what-if", machine=machine).commands[0].limits
    assert limit.reason == "lasthop what-if: package scipy is not installed"
