package io.platform.client;

/**
 * Where the service is and who calls it.
 *
 * @param keyId null: requests carry no token, which `platform serve` does not need
 * @param tokenUrl null: `/token` beside the services of the endpoint
 */
public record Settings(String endpoint, String keyId, String secret, String tokenUrl) {
    /** PLATFORM_SERVICE_ENDPOINT, PLATFORM_ACCESS_KEY_ID, PLATFORM_ACCESS_KEY_SECRET and PLATFORM_TOKEN_URL. */
    public static Settings fromEnvironment() {
        return new Settings(
                System.getenv("PLATFORM_SERVICE_ENDPOINT"),
                System.getenv("PLATFORM_ACCESS_KEY_ID"),
                System.getenv("PLATFORM_ACCESS_KEY_SECRET"),
                System.getenv("PLATFORM_TOKEN_URL"));
    }

    public Settings withDefaultEndpoint(String other) {
        return endpoint == null ? new Settings(other, keyId, secret, tokenUrl) : this;
    }

    /** Null: the endpoint is no version of a gateway, but that of `platform serve`, which is told no secret. */
    String tokenEndpoint() {
        if (tokenUrl != null) return tokenUrl;
        // It stands beside the services: {gateway}/{key}/{name}/{version}.
        String gateway = base().replaceFirst("(?<=[^:/])(/[^/]+){3}$", "");
        return gateway.equals(base()) ? null : gateway + "/token";
    }

    String base() {
        if (endpoint == null) throw new IllegalArgumentException("An endpoint is needed, or PLATFORM_SERVICE_ENDPOINT.");
        return endpoint.replaceFirst("/+$", "");
    }
}
