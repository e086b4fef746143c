"""What a service may use of the platform, in runs and in `platform serve`.

It is there without being installed, and a service need not import it. A module of this name in the
project or among its requirements takes its place.
"""

from .data_pool import DataPool
from .output_pool import OutputPool
from .progress import checkpoint, report

__all__ = ["DataPool", "OutputPool", "checkpoint", "report"]
