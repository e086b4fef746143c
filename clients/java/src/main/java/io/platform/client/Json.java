package io.platform.client;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerationException;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.core.util.JsonGeneratorDelegate;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Function;

/** JSON as this client reads and writes it: no digit is lost, and what is null is not written. */
public final class Json {
    /** Python writes integers of up to 4,300 digits; of far more, reading takes quadratic time. */
    private static final int MOST_DIGITS = 10_000;
    /** Jackson's own are 1,000 digits and 20 MB of text. A text is in memory already, within the answer. */
    private static final StreamReadConstraints LIMITS = StreamReadConstraints.builder()
            .maxNumberLength(MOST_DIGITS)
            .maxStringLength(Integer.MAX_VALUE)
            .build();
    private static final ObjectMapper MAPPER = JsonMapper.builder(
                    JsonFactory.builder().streamReadConstraints(LIMITS).build())
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
            var text = new StringWriter();
            try (var generator = new Finite(MAPPER.createGenerator(text))) {
                MAPPER.writeValue(generator, value);
            }
            return text.toString();
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException("The value cannot be written as JSON: " + error.getOriginalMessage(), error);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** Refuses numbers that JSON does not have; Jackson writes them as texts. */
    private static final class Finite extends JsonGeneratorDelegate {
        Finite(JsonGenerator generator) {
            super(generator, false);
        }

        @Override
        public void writeNumber(double value) throws IOException {
            if (!Double.isFinite(value)) throw new JsonGenerationException(value + " is no number of JSON", this);
            super.writeNumber(value);
        }

        @Override
        public void writeNumber(float value) throws IOException {
            if (!Float.isFinite(value)) throw new JsonGenerationException(value + " is no number of JSON", this);
            super.writeNumber(value);
        }

        @Override
        public void writeArray(double[] values, int offset, int length) throws IOException {
            writeStartArray(values, length);
            for (int at = offset; at < offset + length; at += 1) writeNumber(values[at]);
            writeEndArray();
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
