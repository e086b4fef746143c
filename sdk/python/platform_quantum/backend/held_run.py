"""What the platform gives a run of an external backend; stand-ins where there is no platform."""

from __future__ import annotations

try:
    from platform_service import (  # type: ignore[import-not-found,unused-ignore]
        Cancelled,
        cancellable,
        get_handle,
        keep_handle,
        was_lost,
    )
except ImportError:  # a test of an adapter, say
    from contextlib import AbstractContextManager, nullcontext

    def cancellable() -> AbstractContextManager[None]:  # type: ignore[no-redef,unused-ignore]
        """Nothing interrupts it."""
        return nullcontext()

    class Cancelled(BaseException):  # type: ignore[no-redef,unused-ignore]
        """Never raised here."""

    def keep_handle(handle: str) -> None:
        """Keeps nothing."""

    def get_handle() -> str | None:
        """Nothing was kept."""
        return None

    def was_lost() -> bool:
        """There is one attempt."""
        return False


__all__ = ["Cancelled", "cancellable", "get_handle", "keep_handle", "was_lost"]
