"""Timer with a file descriptor that a selector can watch (timerfd_create(2))."""

import ctypes
import os

from lasthop.linux.syscalls import call

CLOCK_MONOTONIC, TFD_TIMER_ABSTIME = 1, 1


class Timespec(ctypes.Structure):
    """C structure struct timespec."""

    _fields_ = (("tv_sec", ctypes.c_long), ("tv_nsec", ctypes.c_long))


class Itimerspec(ctypes.Structure):
    """C structure struct itimerspec."""

    _fields_ = (("it_interval", Timespec), ("it_value", Timespec))


class Timer:
    """Timer whose descriptor becomes readable at the time to which it is set.

    Raises
    ------
    OSError
        If this process has no descriptor left.
    """

    def __init__(self) -> None:
        flags = os.O_NONBLOCK | os.O_CLOEXEC
        self.descriptor = call("timerfd_create", CLOCK_MONOTONIC, flags)

    def fileno(self) -> int:
        """Return the file descriptor of the timer."""
        return self.descriptor

    def set(self, when_s: float) -> None:
        """Set the timer to a time of `time.monotonic`. The descriptor is not readable before this
        time. [s]"""
        seconds, ns = divmod(max(1, round(when_s * 1e9)), 1_000_000_000)
        wanted = Itimerspec(Timespec(0, 0), Timespec(seconds, ns))
        to = ctypes.byref(wanted)
        call("timerfd_settime", self.descriptor, TFD_TIMER_ABSTIME, to, None)

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self.descriptor)
