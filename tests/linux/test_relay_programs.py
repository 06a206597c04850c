"""Programs without support for relays (ssh, rsync, psql), through SOCKS, a forward, and TPROXY."""

import getpass
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from measure import BenchError
from peers import apt_install

from commands import ForkedCommand, lasthop
from lab import PATIENCE_S, PREFIX, sh, wait_until
from relaying import Pair, relays
from test_relay import free_port


def need(*programs: str, package: str) -> None:
    """Skip if programs are missing, or install their package if this is Debian and the user is
    root.
    """
    if all(map(shutil.which, programs)):
        return
    try:
        apt_install(package)
    except BenchError as error:
        pytest.skip(str(error))


@contextmanager
def served(command: list[str], port: int) -> Iterator[None]:
    """Run a server; the body starts when the server listens."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        await_port(port)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def await_port(port: int) -> None:
    """Wait until a process listens."""
    listening = f"ss -Hltn 'sport = :{port}'"
    wait_until(lambda: f":{port} " in sh(listening), f"listening at {port}")


def done(*command: str, **more: str) -> str:
    """Return the output of a command."""
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | more,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@contextmanager
def sshd(directory: Path) -> Iterator[tuple[int, list[str]]]:
    """Run an SSH server with a separate key; yield its port, and options that a client needs."""
    for name in ("host", "user"):
        done("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / name))
    shutil.copy(directory / "user.pub", directory / "authorized")
    port = free_port()
    Path("/run/sshd").mkdir(exist_ok=True)
    options = {
        "HostKey": directory / "host",
        "AuthorizedKeysFile": directory / "authorized",
        "PidFile": "none",
        "StrictModes": "no",
        "ListenAddress": f"127.0.0.1:{port}",
        "PermitRootLogin": "yes",
        "UsePAM": "no",
    }
    words = [f"-o{name}={value}" for name, value in options.items()]
    server = shutil.which("sshd") or "/usr/sbin/sshd"
    with served([server, "-D", "-f", "/dev/null", *words], port):
        client = {
            "StrictHostKeyChecking": "no",
            "UserKnownHostsFile": "/dev/null",
            "LogLevel": "ERROR",
        }
        settings = [f"-o{name}={value}" for name, value in client.items()]
        yield port, ["-F", "none", "-i", str(directory / "user"), *settings]


def test_ssh_and_rsync_go_through_a_forward_and_socks(tmp_path: Path) -> None:
    need("ssh", "sshd", package="openssh-server")
    need("rsync", package="rsync")
    need("nc", package="netcat-openbsd")
    source = tmp_path / "there"
    source.mkdir()
    (tmp_path / "pair").mkdir()
    for number in range(20):
        (source / f"{number}").write_bytes(os.urandom(100_000))
    with sshd(tmp_path) as (port, options):
        target = f"{getpass.getuser()}@127.0.0.1"
        with relays(tmp_path / "pair", "--forward", f"0:127.0.0.1:{port}") as pair:
            own = str(pair.forward_port)
            printed = done(
                "ssh", *options, "-p", own, target, "cat", f"{source}/7", "|", "wc", "-c"
            )
            assert printed.strip() == "100000"
            way = f"nc -X 5 -x 127.0.0.1:{pair.socks_port} 127.0.0.1 {port}"
            printed = done("ssh", *options, "-o", f"ProxyCommand={way}", target, "echo", "through")
            assert printed == "through\n"
            shell = " ".join(["ssh", *options, "-p", own])
            done("rsync", "-a", "-e", shell, f"{target}:{source}/", str(tmp_path / "here"))
    for number in range(20):
        assert (tmp_path / "here" / f"{number}").read_bytes() == (source / f"{number}").read_bytes()


@contextmanager
def postgres() -> Iterator[int]:
    """Run a PostgreSQL server with a role `guest`; yield its port."""
    paths = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not paths:
        need("initdb", package="postgresql")
    programs = paths[-1].parent
    directory = Path(tempfile.mkdtemp(prefix="lasthop-postgres-"))
    shutil.chown(directory, "postgres")
    port = free_port()
    own = ("runuser", "-u", "postgres", "--")
    try:
        data = str(directory / "data")
        done(*own, str(programs / "initdb"), "-D", data, "-A", "trust", "-U", "guest", "-N")
        options = ["-p", str(port), "-h", "127.0.0.1", "-k", "", "-F"]
        with served([*own, str(programs / "postgres"), "-D", data, *options], port):
            yield port
    finally:
        shutil.rmtree(directory)


def test_psql_goes_through_a_forward(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to be the user postgres")
    need("psql", package="postgresql")
    with postgres() as port, relays(tmp_path, "--forward", f"0:localhost:{port}") as pair:
        own = str(pair.forward_port)
        words = ["psql", "-h", "127.0.0.1", "-p", own, "-U", "guest", "-d", "postgres", "-tA"]
        rows = "select count(*), sum(length(md5(i::text))) from generate_series(1, 200000) i"
        assert done(*words, "-c", rows).strip() == "200000|6400000"
        table = done(
            *words, "-c", "select repeat(md5(i::text), 10) from generate_series(1, 5000) i"
        )
        assert len(table.split()) == 5000


INSIDE, ROUTER, FAR = (f"{PREFIX}-{role}" for role in ("rin", "rro", "rfa"))
RULES = """
table inet relay {{
  chain pre {{
    type filter hook prerouting priority mangle;
    iifname "lan" meta l4proto tcp tproxy ip to 127.0.0.1:{port} meta mark set 1 accept
  }}
}}
"""


@contextmanager
def namespaces() -> Iterator[None]:
    """Create three namespaces in a row: the machine of the program, a router, and a remote
    machine.
    """
    try:
        for name in (INSIDE, ROUTER, FAR):
            sh(f"ip netns add {name}; ip -n {name} link set lo up")
        sh(
            f"""
            ip link add lan netns {ROUTER} type veth peer name eth netns {INSIDE}
            ip link add wan netns {ROUTER} type veth peer name eth netns {FAR}
            ip -n {INSIDE} addr add 10.91.1.2/24 dev eth; ip -n {INSIDE} link set eth up
            ip -n {ROUTER} addr add 10.91.1.1/24 dev lan; ip -n {ROUTER} link set lan up
            ip -n {ROUTER} addr add 10.91.2.1/24 dev wan; ip -n {ROUTER} link set wan up
            ip -n {FAR} addr add 10.91.2.2/24 dev eth; ip -n {FAR} link set eth up
            ip -n {INSIDE} route add default via 10.91.1.1
            ip -n {ROUTER} rule add fwmark 1 lookup 100
            ip -n {ROUTER} route add local default dev lo table 100
            """
        )
        yield
    finally:
        for name in (INSIDE, ROUTER, FAR):
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def test_curl_goes_through_tproxy_without_settings(tmp_path: Path) -> None:
    need("curl", package="curl")
    need("nft", package="nftables")
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "file").write_bytes(body := os.urandom(1_000_000))
    pair = Pair(tmp_path)
    assert lasthop("relay", "key", tmp_path / "key", namespace=None)[0] == 0
    with namespaces():
        rules = tmp_path / "rules"
        rules.write_text(RULES.format(port=7000))
        sh(f"ip netns exec {ROUTER} nft -f {rules}")
        serve = [
            sys.executable,
            "-m",
            "http.server",
            "-b",
            "10.91.2.2",
            "-d",
            str(tmp_path / "web"),
        ]
        web = subprocess.Popen(
            ["ip", "netns", "exec", FAR, *serve, "8000"], stderr=subprocess.DEVNULL
        )
        try:
            pair.server = start_in(FAR, tmp_path, "serve", "--listen", "10.91.2.2:4700")
            pair.client = start_in(
                ROUTER, tmp_path, "connect", "10.91.2.2:4700", "--tproxy", "127.0.0.1:7000"
            )
            assert pair.client.stdout is not None
            printed = [pair.client.stdout.readline() for _ in range(3)]
            assert printed[0] == "127.0.0.1:7000 accepts connections from TPROXY\n"
            assert printed[2] == "connected\n"
            curl = ["curl", "-sS", "--retry", "5", "--retry-all-errors", "--max-time", "20"]
            got = subprocess.run(
                ["ip", "netns", "exec", INSIDE, *curl, "http://10.91.2.2:8000/file"],
                capture_output=True,
                check=False,
            )
            assert got.stdout == body, got.stderr
        finally:
            pair.end()
            web.terminate()
            web.wait()


def start_in(namespace: str, directory: Path, *words: str) -> ForkedCommand:
    """Start a relay in a namespace, and wait until it listens."""
    command = ["relay", *words, "--key", str(directory / "key")]
    started = ForkedCommand(command, namespace=namespace, is_read=True)
    if words[0] == "serve":
        assert started.stdout is not None
        assert started.stdout.readline().startswith("waiting for clients at ")
    return started


@pytest.mark.measured
def test_a_backup_over_a_lossy_path_is_quicker_through_relays() -> None:
    """The example of the guide: eight connections compared with one, on a path with a loss of
    1 %.
    """
    need("rsync", package="rsync")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    printed = done("sh", "examples/relay/backup.sh", "3", PATH=path)
    direct_s, relayed_s = (int(line.split()[-2]) for line in printed.splitlines()[1:])
    assert direct_s > 3 * relayed_s, printed


def test_a_backup_that_fails_has_no_time(tmp_path: Path) -> None:
    (tmp_path / "lasthop").write_text("#!/bin/sh\necho broken >&2\n[ $1 = relay ]\n")
    (tmp_path / "lasthop").chmod(0o755)
    backup = subprocess.run(
        ["sh", "examples/relay/backup.sh", "1"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert backup.returncode == 1
    assert backup.stdout == "1 MB over 20 Mbps, 75 ms, queue 250, loss 0.01\n"
    assert backup.stderr.endswith("broken\nerror: the copy failed\n")
