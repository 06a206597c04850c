"""Answers to pings: only from whom was asked, and only once it has been asked."""

from ipaddress import ip_address

from lasthop.linux.ping import REMEMBERED, Secret

ASKED, OTHER = ip_address("10.0.0.7"), ip_address("10.0.0.8")


def test_an_answer_is_known_by_address_sequence_number_and_secret() -> None:
    secret = Secret()
    payload = secret.payload(ASKED, 7)
    assert len(payload) == 48
    assert secret.knows(payload, ASKED, 7)
    assert not secret.knows(payload, OTHER, 7)
    assert not secret.knows(payload, ASKED, 8)
    assert not secret.knows(bytes(range(48)), ASKED, 7)
    assert not secret.knows(payload[:-25], ASKED, 7)
    assert not secret.knows(b"", ASKED, 7)
    assert not Secret().knows(payload, ASKED, 7)


def test_an_old_answer_is_unknown_before_its_sequence_number_returns() -> None:
    secret = Secret()
    payload = secret.payload(ASKED, 7)
    secret.sent += REMEMBERED - 1
    assert secret.knows(payload, ASKED, 7)
    secret.payload(OTHER, 8)
    assert not secret.knows(payload, ASKED, 7)
