package io.platform.client;

import java.util.Map;

/**
 * State of an execution. Times are UTC, `YYYY-MM-DD HH:MM:SS`; null where there is none yet. Whether the state is final is said by
 * `terminal` alone, since states may be added. `raw` is all that the server said, also what this client does not know.
 */
public record Execution(
        String id,
        String status,
        boolean terminal,
        String createdAt,
        String startedAt,
        String endedAt,
        Map<String, Object> raw) {
    static Execution from(Map<String, Object> raw) {
        return new Execution(
                (String) raw.get("id"),
                (String) raw.get("status"),
                Boolean.TRUE.equals(raw.get("terminal")),
                (String) raw.get("createdAt"),
                (String) raw.get("startedAt"),
                (String) raw.get("endedAt"),
                raw);
    }
}
