"""Client of Warmpath's direct API."""

from ._client import (
    BestWorker,
    Frame,
    KvRouterClient,
    OverlapScore,
    PotentialLoad,
    Reservation,
    RouterConfigOverride,
    RouterError,
    SamplingOptions,
    StopConditions,
    TokenStream,
)

__all__ = [
    "BestWorker",
    "Frame",
    "KvRouterClient",
    "OverlapScore",
    "PotentialLoad",
    "Reservation",
    "RouterConfigOverride",
    "RouterError",
    "SamplingOptions",
    "StopConditions",
    "TokenStream",
]
