"""What-if questions: named cases of a scenario, compared with the unchanged scenario ("as it is").

```text
 texts, TOML, mappings --(cases)--> cases --(paired.run)--> results --(measures)--> columns
                                                              columns --(paired.judge)--> WhatIf
                                                              WhatIf --(conclusion)--> advice
```
"""

from lasthop.whatif.cases import Case
from lasthop.whatif.what_if import WhatIf, what_if

__all__ = ["Case", "WhatIf", "what_if"]
