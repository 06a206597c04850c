"""Batches of simulations: each scenario is simulated once, in chunks, on any executor.

```text
 scenarios --(key)--> missing --cut--> chunks --executor--> finished --seal--> parts
                         ^                                                      |
                         +-------------------- the next time -------------------+
```

A sweep, the studies and the search for a setting all request runs by the fingerprint of their
scenario. Finished runs are reused. The result of a run depends neither on its executor nor on the
other runs of its chunk.
"""

from lasthop.batch.batch import Batch, BatchInterrupted, BatchStopped
from lasthop.batch.chunk import Task, tasks_over
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
    "tasks_over",
]
