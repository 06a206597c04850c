"""Counting of Ctrl-C without an exception, so that Ctrl-C never interrupts a file operation."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def counted_interrupts() -> Iterator[Callable[[], int]]:
    """Count Ctrl-C while the body runs; yield a function that returns the count.

    Nothing is counted outside the main thread, or if other code has set a handler of Ctrl-C. A
    handler of other code is not replaced.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: 0
        return
    count = 0

    def heard(number: int, frame: FrameType | None) -> None:
        nonlocal count
        count += 1

    signal.signal(signal.SIGINT, heard)
    try:
        yield lambda: count
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
