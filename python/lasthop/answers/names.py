"""Names of quantities as constants, such as ``GOODPUT_BPS`` for ``"goodput_bps"``.

The names come from the engine. The stub `names.pyi` lists them for type checkers and editors.
"""

from lasthop.answers.quantities import registry

globals().update((name.upper(), name) for name in registry())
