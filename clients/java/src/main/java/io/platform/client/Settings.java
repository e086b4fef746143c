package io.platform.client;

import java.util.Map;
import java.util.function.Function;

/**
 * Where the service is and who calls it.
 *
 * @param keyId null: requests carry no token, which `platform serve` does not need
 * @param tokenUrl null: `/token` beside the services of the endpoint
 */
public record Settings(String endpoint, String keyId, String secret, String tokenUrl) {
    /** PLATFORM_SERVICE_ENDPOINT, PLATFORM_ACCESS_KEY_ID, PLATFORM_ACCESS_KEY_SECRET and PLATFORM_TOKEN_URL. */
    public static Settings fromEnvironment() {
        return from(System.getenv());
    }

    /** A variable that is set to nothing is not set. */
    static Settings from(Map<String, String> variables) {
        Function<String, String> read = name -> "".equals(variables.get(name)) ? null : variables.get(name);
        return new Settings(
                read.apply("PLATFORM_SERVICE_ENDPOINT"),
                read.apply("PLATFORM_ACCESS_KEY_ID"),
                read.apply("PLATFORM_ACCESS_KEY_SECRET"),
                read.apply("PLATFORM_TOKEN_URL"));
    }

    /** Without the secret: settings end up in logs. */
    @Override
    public String toString() {
        String shown = secret == null ? "null" : "***";
        return "Settings[endpoint=" + endpoint + ", keyId=" + keyId + ", secret=" + shown + ", tokenUrl=" + tokenUrl + "]";
    }

    public Settings withDefaultEndpoint(String other) {
        return endpoint == null ? new Settings(other, keyId, secret, tokenUrl) : this;
    }

    /** Null: the endpoint is no version of a gateway, but that of `platform serve`, which is told no secret. */
    String tokenEndpoint() {
        if (tokenUrl != null) return Urls.check(tokenUrl, "The token URL");
        // It stands beside the services: {gateway}/{key}/{name}/{version}.
        String gateway = base().replaceFirst("(?<=[^:/])(/[^/]+){3}$", "");
        return gateway.equals(base()) ? null : gateway + "/token";
    }

    String base() {
        if (endpoint == null) throw new IllegalArgumentException("An endpoint is needed, or PLATFORM_SERVICE_ENDPOINT.");
        return Urls.check(endpoint, "The endpoint");
    }
}
