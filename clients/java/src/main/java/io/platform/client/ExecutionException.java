package io.platform.client;

import java.util.Map;

/** An execution has ended and did not succeed, or nobody knows whether it did. */
public abstract class ExecutionException extends ClientException {
    private final String id;
    private final transient Map<String, Object> body;

    ExecutionException(String id, Map<String, Object> body) {
        super(body.get("code") + ": " + body.get("detail") + " (execution " + id + ")", null);
        this.id = id;
        this.body = body;
    }

    public String id() {
        return id;
    }

    public String code() {
        return String.valueOf(body.get("code"));
    }

    public String detail() {
        return String.valueOf(body.get("detail"));
    }

    /** The whole answer, with the last checkpoint as `result` where `partial` is true. */
    public Map<String, Object> body() {
        return body;
    }
}
