"""Call functions of libc that Python does not provide."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: object) -> int:
    """Call a function of libc, and return its result.

    Raises
    ------
    OSError
        If the function failed.
    """
    result: int = getattr(libc, name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
