"""The service: `run` is called once for each execution, in a fresh process."""

import logging

logger = logging.getLogger(__name__)


def run(data: dict, params: dict) -> dict:
    """Adds up numbers.

    `data` and `params` are the JSON objects of the request; the return value becomes the result.
    """
    values = data.get("values", [])
    precision = params.get("precision", 2)
    logger.info("adding up %d values", len(values))
    return {"sum": round(sum(values), precision), "count": len(values)}
