package io.platform.client;

import java.util.Map;

/** The worker was lost while the code may have been running: nobody can say what it did. */
public final class ExecutionUnknown extends ExecutionException {
    ExecutionUnknown(String id, Map<String, Object> body) {
        super(id, body);
    }
}
