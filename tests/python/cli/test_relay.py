"""`lasthop relay` prints one line for invalid arguments, and neither starts nor overwrites
anything.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lasthop.cli import main
from lasthop.errors import UserError
from lasthop.relay import Bounds, Client, Terms, new_key
from lasthop.relay.exposed import metrics_of

LASTHOP = "import sys, lasthop.cli; sys.exit(lasthop.cli.main())"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    file = tmp_path / "key"
    file.write_text(new_key())
    file.chmod(0o600)
    return file


def error_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the error message of a command."""
    assert main(["relay", *words]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in error
    return error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--connections", "0"], '--connections "0": expected a number from 1 to 128'),
        (
            ["--connections", "5..2"],
            "--connections 5..2: the first number must not be above the second",
        ),
        (["--connections", "1..200"], '"200": expected a number from 1 to 128'),
        (
            ["--rule", "utility", "--connections", "4"],
            "--rule utility: --connections 4 sets a fixed",
        ),
        (["--probe", "--connections", "4"], "--probe: --connections 4 sets a fixed number"),
        (["--fairness", "2"], "--fairness 2: expected --rule utility as well"),
        (["--forward", f"1:{'a' * 256}:1"], "aaa...: expected a host of at most 255 characters"),
        (
            ["--socks", "127.0.0.1:9", "--metrics", "127.0.0.1:9"],
            "--socks 127.0.0.1:9 has the same address",
        ),
        (["--rule", "fast"], '--rule "fast": expected rtt, utility or marks'),
        (["--k", "-1"], '--k "-1": expected a number above 0'),
        (["--k", "nan"], '--k "nan": expected a number above 0'),
        (["--smoothing", "1"], '--smoothing "1": expected a number from 0 to below 1'),
        (["--interval", "1ms"], "--interval 1ms: expected a time from 0.1 s to 1000 s"),
        (["--interval", "1"], '--interval "1": expected a number above 0 with a unit'),
        (["--hold", "0"], '--hold "0": expected a number from 1 to 100'),
        (["--patience", "0.1s"], "--patience 0.1s: expected a time from 1 s to 3600 s"),
        (["--from", "here"], '--from "here": expected an IP address'),
        (["--timeout", "0.5s"], "--timeout 0.5s: expected a time from 1 s"),
        (["--memory", "1KiB"], "--memory 1KiB: expected a size from 1MiB to 16GiB"),
        (["--streams", "1e9"], '--streams "1e9": expected a number from 1 to'),
        (
            ["--streams", "2049"],
            "--streams 2049: --memory 48MiB is sufficient for at most 2048 streams",
        ),
        (["--streams", "43", "--memory", "1MiB"], "hint: add --memory 2MiB"),
        (["--forward", "80"], '--forward "80": expected [ADDRESS:]PORT:HOST:PORT'),
        (["--forward", "99999:a:1"], '--forward "99999": expected a port from 0 to 65535'),
        (["--socks", "example.org:1"], '--socks "example.org": expected an IP address'),
    ],
)
def test_an_invalid_value_is_named_with_the_valid_values(
    capsys: pytest.CaptureFixture[str], key: Path, words: list[str], message: str
) -> None:
    error = error_of(capsys, "connect", "127.0.0.1:1", "--key", str(key), *words)
    assert message in error
    assert len(error.splitlines()) <= 2


def test_probes_are_for_rules_that_depend_on_the_round_trip_time() -> None:
    terms = Terms(rule="fixed", connections=(4, 4))
    with pytest.raises(UserError, match=r'^probe: the rule "fixed" does not depend on'):
        Client(("127.0.0.1", 1), new_key(), terms, probe=True)


def test_prometheus_learns_whether_probes_are_answered() -> None:
    status = {"probes_in_use": False, "probe_rtt_s": None, "probes_sent": 7, "probes_answered": 2}
    of_client = {family.name: family.samples for family in metrics_of(status)}
    assert of_client["lasthop_relay_probes_in_use"][0].value == 0.0
    assert of_client["lasthop_relay_probe_rtt_seconds"] == []
    assert of_client["lasthop_relay_probes_sent"][0].value == 7.0
    answers = {"probes": {"answered": 5, "forged": 1}}
    (family,) = [each for each in metrics_of(answers) if each.samples]
    assert [(each.labels["outcome"], each.value) for each in family.samples] == [
        ("answered", 5.0),
        ("forged", 1.0),
    ]


def test_the_memory_limits_the_number_of_streams() -> None:
    assert Bounds().as_json()["streams"] == 2048
    assert Bounds(memory_bytes=1 << 20).as_json()["streams"] == 42
    assert Bounds(memory_bytes=192 << 20, streams=8192).as_json()["streams"] == 8192
    with pytest.raises(
        UserError, match="streams: 8192: memory_bytes = 50331648 is sufficient for at most"
    ):
        Bounds(streams=8192)


@pytest.mark.parametrize("server", ["far", "far:x", "far:70000", "[::1:5"])
def test_a_server_is_host_and_port(
    capsys: pytest.CaptureFixture[str], key: Path, server: str
) -> None:
    assert "HOST:PORT" in error_of(capsys, "connect", server, "--key", str(key))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("db", '--to "db": expected HOST:PORT'),
        ("10.0.0.0/33:1", "--to \"10.0.0.0/33:1\": '10.0.0.0/33' does not appear to be"),
        ("db:x", '--to "x": expected a port'),
    ],
)
def test_targets_are_hosts_and_ports(
    capsys: pytest.CaptureFixture[str], key: Path, target: str, message: str
) -> None:
    assert message in error_of(capsys, "serve", "--key", str(key), "--to", target)


def test_keys_are_secret_and_not_overwritten(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "new"
    assert main(["relay", "key", str(file)]) == 0
    assert file.stat().st_mode & 0o777 == 0o600
    capsys.readouterr()
    content = file.read_text()
    assert "File exists" in error_of(capsys, "key", str(file))
    assert file.read_text() == content
    file.chmod(0o644)
    assert "other users can read this key (mode 644)" in error_of(
        capsys, "serve", "--key", str(file)
    )
    assert "lasthop relay key" in error_of(capsys, "serve", "--key", str(tmp_path / "none"))
    file.chmod(0o600)
    for text in ("", "abc", "ab" * 500):
        file.write_text(text)
        assert f"{file}: contains no key" in error_of(capsys, "serve", "--key", str(file))
    os.mkfifo(tmp_path / "pipe")
    assert "pipe: is not a file" in error_of(capsys, "serve", "--key", str(tmp_path / "pipe"))
    assert "Is a directory" in error_of(capsys, "serve", "--key", str(tmp_path))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["serve", "--listen", "192.0.2.1:4700"], "--listen 192.0.2.1:4700: Cannot assign"),
        (["serve", "--metrics", "192.0.2.1:1"], "--metrics 192.0.2.1:1: Cannot assign"),
        (["connect", "a:1", "--forward", "192.0.2.1:1:b:1"], "--forward 192.0.2.1:1: Cannot"),
        (["connect", "a:1", "--congestion", "none"], "--congestion: none: this kernel has none"),
        (["connect", "a:1", "--from", "192.0.2.1"], "--from: 192.0.2.1: Cannot assign"),
    ],
)
def test_errors_of_the_relay_are_one_line(key: Path, words: list[str], message: str) -> None:
    # The process of the command becomes the relay.
    command = [sys.executable, "-c", LASTHOP, "relay", *words, "--key", str(key)]
    if words[0] == "serve" and "--listen" not in words:
        command += ["--listen", "127.0.0.1:0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
