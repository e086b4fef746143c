package io.platform.client;

import java.util.Map;

/** It raised, exceeded a limit, was cancelled or could not start: it did not succeed. */
public final class ExecutionFailed extends ExecutionException {
    ExecutionFailed(String id, Map<String, Object> body) {
        super(id, body);
    }
}
