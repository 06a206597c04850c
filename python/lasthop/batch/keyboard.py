"""Counting of Ctrl-C without an exception, so that Ctrl-C never interrupts two steps that belong
together.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def counted_interrupts() -> Iterator[Callable[[], int]]:
    """Count Ctrl-C; yield a function that returns how often it was pressed.

    If other code handles Ctrl-C, or if this is not the main thread, that handler stays and nothing
    is counted.
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
