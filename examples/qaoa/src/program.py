"""MaxCut as a service: the backend does the quantum part, this does the rest."""

import logging
from dataclasses import dataclass, field

from platform_service import report

from platform_quantum import PlatformQuantumProvider

from .maxcut import Settings, solve

logger = logging.getLogger(__name__)

MAX_NODES = 20


@dataclass
class Data:
    edges: list[list[float]] = field(default_factory=list)


@dataclass
class Params(Settings):
    backend: str = "sim.statevector"


def run(data: Data, params: Params) -> dict:
    if not data.edges:
        raise ValueError("edges must be a list of pairs of nodes")
    if max(max(edge[:2]) for edge in data.edges) >= MAX_NODES:
        raise ValueError(f"nodes must be numbers below {MAX_NODES}")
    # Inside of a service there is nothing to configure.
    backend = PlatformQuantumProvider().get_backend(params.backend)

    def tell(number, score):
        logger.info("round %d: %.3f", number, score)
        report(number / params.rounds, f"average cut {score:.3f}")

    return solve(backend, data.edges, params, tell)
