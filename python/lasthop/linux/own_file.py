"""Files in a directory whose owner may be another user than this process.

Root keeps files in a directory that belongs to the user of a service. That user can put a link in
the place of such a file, by which root would write to a file that the user may not write.
"""

import errno
import os
from pathlib import Path

SAFELY = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""No symbolic link leads out of the directory, and no pipe holds this process up."""


def open_own(path: Path, flags: int) -> int:
    """Open a file for its owner alone; it is created if there is none.

    Parameters
    ----------
    path : Path
    flags : int
        Flags of open(2). A file that is there is truncated only after it has been checked.

    Returns
    -------
    int
        The descriptor.

    Raises
    ------
    OSError
        If the file cannot be opened, is a link, or has other names (hard links).
    """
    handle = os.open(path, flags & ~os.O_TRUNC | os.O_CREAT | SAFELY, 0o600)
    try:
        opened, named = os.fstat(handle), os.lstat(path)
        # One lstat has the file and its number of names: a name removed meanwhile is noticed.
        if (opened.st_dev, opened.st_ino) != (named.st_dev, named.st_ino) or named.st_nlink != 1:
            raise OSError(errno.EMLINK, "it is a hard link to another file")
        os.fchmod(handle, 0o600)
        if flags & os.O_TRUNC:
            os.ftruncate(handle, 0)
    except BaseException:
        os.close(handle)
        raise
    return handle
