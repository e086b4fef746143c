package io.platform.client;

import java.time.Duration;
import java.util.Map;

/**
 * How an execution is started and waited for.
 *
 * @param timeout after which the waiting ends, not the execution; null: never
 * @param more other members of a start, such as `startAt` and `persistTo`
 * @param idempotencyKey starts with the same key are one execution; null: a new one
 */
public record RunOptions(Duration timeout, Map<String, Object> more, String idempotencyKey) {
    /** No other members, where `more` is null. */
    public RunOptions {
        more = more == null ? Map.of() : more;
    }

    public static final RunOptions NONE = new RunOptions(null, Map.of(), null);

    public static RunOptions within(Duration timeout) {
        return new RunOptions(timeout, Map.of(), null);
    }

    public RunOptions withMore(Map<String, Object> members) {
        return new RunOptions(timeout, members, idempotencyKey);
    }
}
