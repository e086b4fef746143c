package io.platform.client;

import java.util.List;
import java.util.Map;

/** The server refused a request, and asking again as it is would not help. */
public final class RequestRefused extends ClientException {
    private final int status;
    private final String code;
    private final String detail;
    private final String requestId;
    private final transient Map<String, Object> body;

    RequestRefused(int status, Map<String, Object> body, String requestId) {
        this(status, body, requestId, read(body, "code", "error", "HTTP_" + status), read(body, "detail", "error_description", ""));
    }

    private RequestRefused(int status, Map<String, Object> body, String requestId, String code, String detail) {
        super(status + " " + code + ": " + detail + " (request " + requestId + ")", null);
        this.status = status;
        this.code = code;
        this.detail = detail;
        this.requestId = requestId;
        this.body = body;
    }

    /** The token endpoint answers in the form of OAuth. */
    private static String read(Map<String, Object> body, String name, String other, String absent) {
        Object found = body.getOrDefault(name, body.get(other));
        return found == null ? absent : found.toString();
    }

    public int status() {
        return status;
    }

    public String code() {
        return code;
    }

    public String detail() {
        return detail;
    }

    /** Which fields are at fault: each has `path` and `message`. */
    public List<Object> errors() {
        return body.get("errors") instanceof List<?> errors ? List.copyOf(errors) : List.of();
    }

    /** Null where the answer named none. */
    public String requestId() {
        return requestId;
    }

    public Map<String, Object> body() {
        return body;
    }
}
