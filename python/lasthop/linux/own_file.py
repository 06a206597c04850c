"""Safe access to files in a directory that another user may own.

Root stores files in a directory that belongs to the user of a service. This user can replace a file
by a symbolic or hard link. A root process that follows the link could overwrite a file that the
user may not write.
"""

import errno
import os
from pathlib import Path

SAFELY = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""Flags of open(2) that refuse a symbolic link and do not block at a pipe."""


def open_own(path: Path, flags: int) -> int:
    """Open a file that only its owner may access. Create the file if it does not exist.

    Parameters
    ----------
    path : Path
    flags : int
        Flags of open(2). An existing file is truncated only after it has been checked.

    Returns
    -------
    int
        The descriptor of the file.

    Raises
    ------
    OSError
        If the file cannot be opened, is a symbolic link, or has other names (hard links).
    """
    handle = os.open(path, flags & ~os.O_TRUNC | os.O_CREAT | SAFELY, 0o600)
    try:
        opened, named = os.fstat(handle), os.lstat(path)
        # A single lstat returns both the file's inode and its number of names, so that a concurrent
        # removal of a name is detected.
        if (opened.st_dev, opened.st_ino) != (named.st_dev, named.st_ino) or named.st_nlink != 1:
            raise OSError(errno.EMLINK, "it is a hard link to another file")
        os.fchmod(handle, 0o600)
        if flags & os.O_TRUNC:
            os.ftruncate(handle, 0)
    except BaseException:
        os.close(handle)
        raise
    return handle
