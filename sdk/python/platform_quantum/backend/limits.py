"""What one job may ask for. A hostile job may use up its own time and memory, and no more."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds that are checked before anything is run; sizes in bytes."""

    circuits: int = 300
    """Of one job."""
    runs: int = 10_000
    """Circuits of one job with all sets of parameters."""
    text_bytes: int = 32 * 1024 * 1024
    """Of a circuit as it is sent."""
    qasm3_bytes: int = 1024 * 1024
    """Of a circuit in OpenQASM 3, which is read in 1 ms for each operation."""
    circuit_bytes: int = 64 * 1024 * 1024
    """Of all circuits of a job in QPY, uncompressed: 1,000,000 operations have 56 MB."""
    operations: int = 1_000_000
    """Of a circuit, with gates of its own and loops unrolled."""
    looped: int = 20_000
    """Of these, the ones in loops. Aer unrolls loops one operation after the other, in 0.1 ms."""
    reading_seconds: int = 120
    """Of a processor, for all circuits of a job."""
    total_shots: int = 10_000_000
    """Of all circuits with all sets of parameters."""
    observable_terms: int = 100_000
    variables: int = 100_000
    """Of an annealing problem."""
    interactions: int = 5_000_000
