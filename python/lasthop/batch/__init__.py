"""Run many scenarios, each once: in chunks, on any executor, and saved on disk when finished.

```text
 scenarios --(key)--> missing --cut--> chunks --executor--> finished --seal--> parts
                         ^                                                      |
                         +-------------------- the next time -------------------+
```

A sweep, the studies and the search for a setting all ask for runs by the fingerprint of their
scenario. Finished runs are reused. A run does not depend on its executor, or on the other runs of
its chunk.
"""

from lasthop.batch.batch import Batch, BatchInterrupted, BatchStopped
from lasthop.batch.chunk import Task
from lasthop.batch.counters import BatchProgress, ProgressCallback
from lasthop.batch.executors import Workers
from lasthop.batch.parts import Parts

__all__ = [
    "Batch",
    "BatchInterrupted",
    "BatchProgress",
    "BatchStopped",
    "Parts",
    "ProgressCallback",
    "Task",
    "Workers",
]
