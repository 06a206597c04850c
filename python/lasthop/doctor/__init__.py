"""Report of what runs on this machine: `lasthop doctor`.

```text
 this machine --(probe)--> Machine --(commands)--> limits per command --> Diagnosis --> text, JSON
```

The probe calls the checks of the commands, or reads the same files. It changes nothing: it loads no
module of the kernel, and every namespace and BPF program of a test is removed at its end.
"""

from lasthop.doctor.diagnosis import Diagnosis, doctor

__all__ = ["Diagnosis", "doctor"]
