package io.platform.client;

/** The caller waits no longer, and the server gave no answer so far; the cause says why. */
final class OutOfTime extends ClientException {
    OutOfTime(Throwable cause) {
        super(cause.getMessage(), cause);
    }
}
