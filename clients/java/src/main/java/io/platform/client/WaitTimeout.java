package io.platform.client;

import java.time.Duration;

/** The waiting has ended, not the execution. */
public final class WaitTimeout extends ClientException {
    private final String id;

    WaitTimeout(String id, Duration timeout, Throwable cause) {
        super(
                "Execution " + id + " has not ended within " + timeout.toMillis() / 1000.0
                        + " s. It goes on: wait again, ask for its result later, or cancel it.",
                cause);
        this.id = id;
    }

    public String id() {
        return id;
    }
}
