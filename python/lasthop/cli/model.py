"""Option `--model` of the commands that predict."""

from lasthop.cli.options import unset
from lasthop.models import MODELS

__all__ = ["MODEL"]

MODEL = unset(
    "NAME",
    f"Use this analytical model: {', '.join(sorted(MODELS)[:-1])} or {max(MODELS)}; by default the "
    f"model that suits the scenario.",
)
