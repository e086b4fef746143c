package io.platform.client;

import java.util.Map;

/** An execution has ended and did not succeed, or nobody knows whether it did. */
public abstract class ExecutionException extends ClientException {
    private final String id;
    private final transient Map<String, Object> body;

    ExecutionException(String id, Map<String, Object> body) {
        super(readCode(body) + ": " + RequestRefused.readText(body, "detail", "") + " (execution " + id + ")", null);
        this.id = id;
        this.body = body;
    }

    public String id() {
        return id;
    }

    public String code() {
        return readCode(body);
    }

    public String detail() {
        return RequestRefused.readText(body, "detail", "");
    }

    private static String readCode(Map<String, Object> body) {
        return RequestRefused.readText(body, "code", Result.status(body).get("status").toString());
    }

    /** The whole answer, with the last checkpoint as `result` where `partial` is true. */
    public Map<String, Object> body() {
        return body;
    }
}
