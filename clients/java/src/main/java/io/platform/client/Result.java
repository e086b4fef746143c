package io.platform.client;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Result of an execution that succeeded. */
public final class Result<O> {
    private final String text;
    private final Map<String, Object> body;
    private final Function<Map<String, Object>, O> decode;

    Result(String text, Map<String, Object> body, Function<Map<String, Object>, O> decode) {
        this.text = text;
        this.body = body;
        this.decode = decode;
    }

    /** The answer, digit by digit as the server sent it. */
    public String text() {
        return text;
    }

    /** The parsed answer, also what this client does not know. */
    public Map<String, Object> body() {
        return body;
    }

    /** What the service returned, as it is: no digit is lost. */
    public Map<String, Object> value() {
        if (body.containsKey("result") && status(body).containsKey("createdAt")) return object(body, "result");
        // `platform serve` answers with the members of the result beside these.
        Map<String, Object> value = new LinkedHashMap<>(body);
        value.remove("_links");
        value.remove("_embedded");
        return value;
    }

    /** What the service returned, as its type. */
    public O output() {
        return decode.apply(value());
    }

    /** What the platform says about it, such as `_usage`; empty if nothing. */
    public Map<String, Object> metadata() {
        return object(body.containsKey("metadata") ? body : object(body, "_embedded"), "metadata");
    }

    /** Names of the files of the result. */
    public List<String> files() {
        return object(body, "_links").keySet().stream()
                .filter(name -> !name.equals("self") && !name.equals("status"))
                .toList();
    }

    /** What the answer says of its execution. */
    static Map<String, Object> status(Map<String, Object> body) {
        return object(object(body, "_embedded"), "status");
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Map<String, Object> from, String name) {
        return from.get(name) instanceof Map<?, ?> found ? (Map<String, Object>) found : Map.of();
    }
}
