"""Starts, polls and fetches results with the client that openapi-python-client wrote."""

import json
import os
import time
from uuid import UUID

from service_client import AuthenticatedClient
from service_client.api.executions import get_result, get_state, list_executions, start_execution
from service_client.models import (
    Execution,
    ExecutionStatus,
    Params,
    Result,
    StartRequest,
    StartRequestData,
)

client = AuthenticatedClient(
    base_url=os.environ["ENDPOINT"], token=os.environ["TOKEN"], raise_on_unexpected_status=True
)


def finish(data: dict) -> tuple[Execution, Result]:
    body = StartRequest(data=StartRequestData.from_dict(data), params=Params(factor=21))
    started = start_execution.sync(client=client, body=body)
    assert isinstance(started, Execution), started
    assert isinstance(started.id, UUID)
    state = started
    while not state.terminal:
        time.sleep(0.05)
        state = get_state.sync(client=client, id=started.id)
        assert isinstance(state, Execution), state
    result = get_result.sync(client=client, id=started.id)
    assert isinstance(result, Result), result
    return state, result


good, output = finish({"numbers": [1, 2]})
assert good.status is ExecutionStatus.SUCCEEDED
bad, failure = finish({"act": "raise"})
listed = list_executions.sync(client=client, limit=2)
assert isinstance(listed, list)
print(
    json.dumps(
        {
            "succeeded": [good.status, output.result.to_dict()],
            "failed": [bad.status, failure.code],
            "listed": [execution.status for execution in listed],
        }
    )
)
