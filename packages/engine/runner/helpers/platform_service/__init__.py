"""What a service may use of the platform, in runs and in `platform serve`.

It is there without being installed, and a service need not import it. A module of this name in the
project or among its requirements takes its place.
"""

from .data_pool import DataPool
from .external import Cancelled, cancellable, get_handle, keep_handle, was_lost
from .output_pool import OutputPool
from .progress import checkpoint, report

__all__ = [
    "Cancelled",
    "DataPool",
    "OutputPool",
    "cancellable",
    "checkpoint",
    "get_handle",
    "keep_handle",
    "report",
    "was_lost",
]
