import pytest

from lasthop.answers.digits import estimate, plain, signed, span


@pytest.mark.parametrize(
    ("mean", "ci95", "text"),
    [
        (3.44387, 0.00926, "3.444 ± 0.009"),
        (66.2471, 0.1851, "66.25 ± 0.19"),
        (189.652, 1.463, "189.7 ± 1.5"),
        (847.3, 41.0, "847 ± 41"),
        (0.0932, 0.00433, "0.093 ± 0.004"),
        (7.86, 0.3318, "7.86 ± 0.33"),
        (7.86, 0.36, "7.9 ± 0.4"),
        (75.0, 0.0, "75.00"),
        (1000.0, 0.0004, "1000"),
        (99.99999, 1e-5, "100.00"),
        (0.0, 0.0, "0"),
        (2.5, None, "2.500"),
        (None, None, "-"),
    ],
)
def test_the_half_width_determines_the_digits(mean: float, ci95: float, text: str) -> None:
    assert estimate(mean, ci95) == text


def test_number_without_interval_has_four_digits() -> None:
    assert [plain(x) for x in (67.4187, 0.41574, 12345.6, -8.277)] == [
        "67.42",
        "0.4157",
        "12346",
        "-8.277",
    ]


def test_difference_has_its_sign() -> None:
    assert [signed(x, 0.19) for x in (-1.171, 0.4)] == ["-1.17", "+0.40"]
    assert signed(None) == "-"
    assert signed(0.0) == "0"


def test_a_duration_of_an_hour_or_more_is_in_hours_or_minutes() -> None:
    words = [span(x) for x in (21600.0, 5400.0, 1e6, 90.0, 0.25, 3600.5)]
    assert words == ["6 h", "90 min", "1000000 s", "90 s", "0.25 s", "3600.5 s"]
