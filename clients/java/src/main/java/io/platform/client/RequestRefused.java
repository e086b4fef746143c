package io.platform.client;

import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * The server refused a request, and asking again as it is would not help. Also, with a `status` of 2xx, an answer that is not that of a
 * service.
 */
public final class RequestRefused extends ClientException {
    private final int status;
    private final String code;
    private final String detail;
    private final String requestId;
    private final transient Map<String, Object> body;

    RequestRefused(int status, Map<String, Object> body, String requestId) {
        // The token endpoint answers in the form of OAuth.
        this(
                status,
                body,
                requestId,
                readText(body, "code", readText(body, "error", "HTTP_" + status)),
                readText(body, "detail", readText(body, "error_description", "")));
    }

    private RequestRefused(int status, Map<String, Object> body, String requestId, String code, String detail) {
        super(status + " " + code + ": " + detail + " (request " + requestId + ")", null);
        this.status = status;
        this.code = code;
        this.detail = detail;
        this.requestId = requestId;
        this.body = body;
    }

    /** A member that is a text; what a proxy says may be anything. */
    static String readText(Map<String, Object> body, String name, String absent) {
        return body.get(name) instanceof String text && !text.isEmpty() ? text : absent;
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
        return body.get("errors") instanceof List<?> errors ? Collections.unmodifiableList(errors) : List.of();
    }

    /** Null where the answer named none. */
    public String requestId() {
        return requestId;
    }

    public Map<String, Object> body() {
        return body;
    }
}
