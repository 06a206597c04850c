"""Stations of the hot-spot model with the symbols of the paper."""

from lasthop.models.hotspot.station import Connections, StationLoad


def station(
    uploads: int = 0, downloads: int = 0, window: float = 42.0, beta: float = 1.0
) -> StationLoad:
    r"""Return a station from the symbols of the paper: :math:`N^{up}_i, N^{dw}_i, W_i, \beta_i`.

    Parameters
    ----------
    uploads, downloads : int
        Connections in each direction. [connections]
    window : float
        Receive window of all connections. [segments]
    beta : float
        Access priority over the AP. [-]
    """

    def alike(count: int) -> tuple[Connections, ...]:
        return (Connections(count, window),) if count else ()

    return StationLoad(alike(uploads), alike(downloads), beta)
