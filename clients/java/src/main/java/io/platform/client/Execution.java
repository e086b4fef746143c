package io.platform.client;

import java.util.List;
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
    private static final List<String> TEXTS = List.of("id", "status", "createdAt");
    private static final List<String> TIMES = List.of("startedAt", "endedAt");

    /** Null, where it is no state of an execution. */
    static Execution from(Map<String, Object> raw) {
        boolean isOne = raw != null
                && raw.get("terminal") instanceof Boolean
                && TEXTS.stream().allMatch(name -> raw.get(name) instanceof String)
                && TIMES.stream().allMatch(name -> raw.get(name) == null || raw.get(name) instanceof String);
        if (!isOne) return null;
        return new Execution(
                (String) raw.get("id"),
                (String) raw.get("status"),
                (Boolean) raw.get("terminal"),
                (String) raw.get("createdAt"),
                (String) raw.get("startedAt"),
                (String) raw.get("endedAt"),
                raw);
    }
}
