package io.platform.client;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Function;

/** JSON as this client reads and writes it: no digit is lost, and what is null is not written. */
public final class Json {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS, DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .defaultPropertyInclusion(JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
            .build();
    private static final TypeReference<Map<String, Object>> OBJECT = new TypeReference<>() {};

    private Json() {}

    /** Reads an object; numbers become Integer, Long, BigInteger or BigDecimal. */
    public static Map<String, Object> parse(String text) {
        try {
            return MAPPER.readValue(text, OBJECT);
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException("The text is no JSON object: " + error.getOriginalMessage(), error);
        }
    }

    /** Reads an answer; null, where it is no such JSON. */
    static <T> T read(byte[] content, TypeReference<T> type) {
        try {
            return MAPPER.readValue(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString(), type);
        } catch (IOException error) {
            return null;
        }
    }

    /** Writes a value, such as a map or an object of a generated class. */
    public static String write(Object value) {
        try {
            return MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException("The value cannot be written as JSON: " + error.getOriginalMessage(), error);
        }
    }

    /** Makes a result an object of a class. */
    public static <T> Function<Map<String, Object>, T> decodeAs(Class<T> type) {
        return value -> MAPPER.convertValue(value, type);
    }

    /** Leaves a result as it is. */
    public static Function<Map<String, Object>, Map<String, Object>> decodeAsMap() {
        return value -> value;
    }
}
