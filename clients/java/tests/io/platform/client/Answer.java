package io.platform.client;

import java.util.Map;

/** What the scripted server answers; a status of 0 cuts the connection instead. */
record Answer(int status, String body, Map<String, String> headers) {
    static Answer of(String body) {
        return new Answer(200, body, Map.of());
    }

    static Answer of(int status, String body) {
        return new Answer(status, body, Map.of());
    }

    Answer with(String name, String value) {
        return new Answer(status, body, Map.of(name, value));
    }
}
