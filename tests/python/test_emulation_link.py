"""Emulation of a link instead of a scenario: settings of the link, and its position on the command
line.
"""

from pathlib import Path

import pytest

import lasthop as lh
from lasthop.cli import main
from lasthop.cli.emulate import joined
from lasthop.emulation.link import WAYS, link
from lasthop.emulation.places import every_place

EXPECTED = "; expected a rate, a delay, queue N, loss P, separated by commas"


def test_a_link_has_the_same_rate_delay_and_queue_in_both_directions() -> None:
    scenario = link("12 Mbps,  40 ms, queue 100, loss 0.01")
    forward, back = (each for each in scenario["links"] if not each["of_host"])
    for each in (forward, back):
        assert (each["rate_bps"], each["delay_s"], each["loss"]) == (12_000_000, 0.04, 0.01)
        assert each["queue_packets"] == 100
    assert (forward["from"], forward["to"]) == (back["to"], back["from"]) == ("client", "server")
    assert (scenario["name"], scenario["warmup_s"]) == ("12 Mbps, 40 ms, queue 100, loss 0.01", 0)


def test_a_link_without_settings_has_the_default_queue() -> None:
    assert link("9.6 kbps, 0 ms")["links"][0]["queue_packets"] == 1000


def test_the_nodes_of_a_link_are_client_and_server() -> None:
    assert list(every_place(link("1 Mbps, 1 ms").typed, WAYS)) == ["client", "server"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "",
            "a value is missing",
        ),
        (
            "40 ms",
            "the rate is missing",
        ),
        (
            "12 Mbps",
            "the delay is missing",
        ),
        (
            "queue 9, 1 Mbps",
            "the delay is missing",
        ),
        (
            "1 Mbps, 1 ms, 2",
            '"2" is unknown',
        ),
        (
            "1 Mbps,, queue 3",
            "a value is missing",
        ),
        (
            "1 Mbps, 1 ms, loss 0, loss 0",
            "`loss` is given twice",
        ),
        (
            "12 Mbs, 1 ms",
            'rate: "12 Mbs" has none of the units bps, kbps, Mbps, Gbps; expected "unlimited" or '
            "a rate above 0 and up to 100 Gbps",
        ),
        (
            "1 Mbps, 40",
            'delay: 40 has no unit, write "40 s" or "40 ms"; expected a duration from 0 ns to '
            "100 s",
        ),
        (
            "1 Mbps, 1 ms, queue 0",
            "queue: 0 is too small; expected a whole number from 1 to 1000000",
        ),
        (
            "1 Mbps, 1 ms, queue",
            'queue: "" is not a number; expected a whole number from 1 to 1000000',
        ),
        (
            "1 Mbps, 1 ms, loss 1",
            "loss: 1 is not below 1; expected a number from 0 to below 1",
        ),
    ],
)
def test_invalid_links_are_refused_in_one_line(words: str, message: str) -> None:
    with pytest.raises(lh.UserError) as caught:
        link(words)
    expected = "" if "expected" in message else EXPECTED
    assert str(caught.value) == f'--link "{words}": {message}{expected}'
    assert caught.value.hint in (
        '--link "12 Mbps, 40 ms, queue 100"',
        'did you mean "12 Mbps"?',
    )


def test_traces_replace_the_rate(tmp_path: Path) -> None:
    for name, lines in (("up", "4\n8\n"), ("down", "2\n")):
        (tmp_path / name).write_text(lines)
    traces = str(tmp_path / "up"), str(tmp_path / "down")
    for words, delay_s in (("", 0.0), ("30 ms, queue 5", 0.03)):
        forward, back = (each for each in link(words, (), traces)["links"] if not each["of_host"])
        assert (forward["delay_s"], back["delay_s"]) == (delay_s, delay_s)
        assert [each["trace"]["opportunities"] for each in (forward, back)] == [2, 1]
    with pytest.raises(
        lh.UserError, match=r"the traces are the rate; .* a delay, queue N, loss P, separated"
    ):
        link("1 Mbps, 30 ms", (), traces)
    (tmp_path / "down").write_text("2\nx\n")
    with pytest.raises(lh.UserError, match=r"^--trace .*down: .* in line 2, which is not a whole"):
        link("", (), traces)


def test_settings_change_a_link() -> None:
    assert link("1 Mbps, 1 ms", [("seed", "7")])["seed"] == 7
    with pytest.raises(lh.ScenarioError, match="unknown key"):
        link("1 Mbps, 1 ms", [("sed", "7")])


@pytest.mark.parametrize(
    ("given", "done"),
    [
        ("emulate --link L -- a b", ["emulate", "--link", "L", "", "--", "a", "b"]),
        ("emulate --link=L --places", ["emulate", "--link=L", "--places", ""]),
        (
            "emulate x --with p c -- --link L",
            ["emulate", "x", "--with", "p=c", "--", "--link", "L"],
        ),
        ("emulate --link", ["emulate", "--link"]),
        ("emulate --trace u d -- a", ["emulate", "--trace", "u", "d", "", "--", "a"]),
        ("emulate --trace u -- a", ["emulate", "--trace", "u"]),
        ("emulate x --with p -- a", ["emulate", "x", "--with", "p", "--", "a"]),
        ("emulate x --with -- a", ["emulate", "x", "--with"]),
    ],
)
def test_a_link_replaces_the_file(given: str, done: list[str]) -> None:
    assert joined(given.split()) == done


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x.toml", "--link", "1 Mbps, 1 ms", "--", "ls"], "error: --link: replaces FILE"),
        (["--link", "1 Mbps, 1 ms"], "error: --link: missing command to run"),
        (["--link", "1 Mbps", "--", "ls"], 'error: --link "1 Mbps": the delay is missing; expec'),
        (["--link", "1 Mbps, 1 ms", "--", ""], "error: the command is empty"),
        (["--link", "1 Mbps, 1 ms", "--at", "me", "--", "ls"], "error: me: no such place"),
    ],
)
def test_a_command_line_without_a_link_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["emulate", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(message)
    assert len(err.splitlines()) <= 2
