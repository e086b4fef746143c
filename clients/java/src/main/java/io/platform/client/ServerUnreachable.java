package io.platform.client;

/** No answer came, however often it was tried; the cause is the last failure. */
public final class ServerUnreachable extends ClientException {
    ServerUnreachable(String message, Throwable cause) {
        super(message, cause);
    }
}
