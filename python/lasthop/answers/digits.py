"""Numbers as text, rounded to the digits that the confidence interval supports."""

from math import floor, log10

__all__ = ["estimate", "plain", "signed", "span"]

DIGITS = 4
"""Number of significant digits of a number without a confidence interval."""


def estimate(mean: float | None, ci95: float | None) -> str:
    """Return a mean and the half width of its interval as text. The half width has one or two
    digits.
    """
    if mean is None:
        return "-"
    if not ci95:
        return plain(mean)
    places = decimals(mean, ci95)
    half = f"{ci95:.{places}f}"
    return f"{mean:.{places}f} ± {half}" if float(half) else plain(mean)


def plain(value: float | None) -> str:
    """Return a number without a confidence interval as text."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    return f"{value:.{min(6, max(0, DIGITS - 1 - floor(log10(abs(value)))))}f}"


def signed(value: float | None, ci95: float | None = None) -> str:
    """Return a difference with its sign as text, rounded in the same way as by `estimate`."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    places = decimals(value, ci95) if ci95 else 3
    return f"{value:+.{places}f}"


def decimals(mean: float, ci95: float) -> int:
    """Return the number of decimal places that show one or two digits of the half width.

    Two digits of the half width are shown if they are 10 to 35, and otherwise one digit (rule of
    the Particle Data Group). At most six digits of the mean are shown.
    """
    exponent = floor(log10(ci95))
    wanted = -exponent if ci95 > 3.55 * 10.0**exponent else 1 - exponent
    room = 5 - floor(log10(abs(mean))) if mean else 6
    return max(0, min(wanted, room, 6))


def span(seconds: float) -> str:
    """Return a duration as text. Durations of 1 h or more are in whole hours or minutes if that is
    exact.
    """
    for scale, unit in ((3600, "h"), (60, "min")):
        if seconds >= 3600 and seconds % scale == 0:
            return f"{seconds / scale:.0f} {unit}"
    return f"{seconds:.10g} s"
