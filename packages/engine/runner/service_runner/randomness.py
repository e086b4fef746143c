"""Random generators that the module creates at import without a seed of their own.

Each child seeds them again, or all runs would draw the same numbers. `random.Random()` or
`RNG = numpy.random.default_rng()` at module level is common; generators with a seed keep it. Which
of the two a generator is shows only while it is created, so `random` and `secrets` (numpy's source
of entropy) are watched during the import. They are not imported for it, which every cold start
would pay for.
"""

from __future__ import annotations

import gc
import sys
from weakref import WeakSet

from .late_patches import forget_patch, is_patched, patch_when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_plain: WeakSet[Any] = WeakSet()
"""Instances of `random.Random`, except that of the module's functions: Python seeds it again."""
_entropies: set[int] = set()


def _patch_random(module: Any) -> None:
    kind = getattr(module, "Random", None)
    plain_seed = getattr(kind, "seed", None)
    if kind is None or plain_seed is None:
        return  # a module of the project that has the same name

    def seed(self: Any, a: Any = None, version: int = 2) -> None:
        plain_seed(self, a, version)
        (_plain.add if a is None else _plain.discard)(self)

    kind.seed = seed


def _patch_secrets(module: Any) -> None:
    plain_bits = getattr(module, "randbits", None)
    if plain_bits is None:
        return  # a module of the project that has the same name

    def randbits(k: int) -> Any:
        number = plain_bits(k)
        if is_patched("secrets"):
            _entropies.add(number)
        return number

    module.randbits = randbits


_PATCHES = {"random": _patch_random, "secrets": _patch_secrets}


def watch() -> None:
    """Call before the import."""
    for name, patch in _PATCHES.items():
        patch_when_imported(name, patch)


def find_unseeded() -> list[Any]:
    """Call after the import and before `gc.freeze`: the generators for `seed`.

    Takes 20 ms with 230,000 objects (pandas, scikit-learn), and nothing without numpy.
    """
    for name in _PATCHES:
        forget_patch(name)
    kind = getattr(sys.modules.get("numpy.random.bit_generator"), "BitGenerator", None)
    if kind is None or not _entropies:
        return list(_plain)
    found = [item for item in gc.get_objects() if issubclass(type(item), kind)]
    return [*_plain, *(item for item in found if _read_entropy(item) in _entropies)]


def _read_entropy(generator: Any) -> int | None:
    sequence = getattr(generator, "seed_seq", None) or getattr(generator, "_seed_seq", None)
    entropy = getattr(sequence, "entropy", None)
    return entropy if isinstance(entropy, int) else None


def seed(generators: Iterable[Any]) -> None:
    """Call in a child."""
    for generator in generators:
        try:
            if hasattr(generator, "seed_seq") or hasattr(generator, "_seed_seq"):
                generator.state = type(generator)().state
            else:
                generator.seed()
        except Exception:
            continue  # a subclass that cannot be created without arguments
