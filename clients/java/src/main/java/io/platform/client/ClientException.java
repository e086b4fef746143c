package io.platform.client;

/** Base of all errors of this client. */
public class ClientException extends RuntimeException {
    public ClientException(String message, Throwable cause) {
        super(message, cause);
    }
}
