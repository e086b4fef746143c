package io.platform.client;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Takes the answers in their order, the last one again and again; tokens are answered apart. */
final class ScriptedServer implements AutoCloseable {
    /** A request that came, apart from those for tokens. */
    record Asked(String method, String path, String authorization, String idempotencyKey, String prefer, String body) {}

    /** A header of an answer whose bytes come one by one, with so many milliseconds between them; the last one never where it stalls. */
    static final String DRIP = "X-Drip";
    static final String STALL = "X-Stall";

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Deque<Answer> answers;
    private final List<Asked> asked = new ArrayList<>();
    private final String token;
    private int tokens;

    /** `token`: what is answered instead of a token; its `%d` becomes the number of the token; where it is empty, the connection is cut. */
    ScriptedServer(String token, Answer... answers) throws IOException {
        this.token = token;
        this.answers = new ArrayDeque<>(List.of(answers));
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.setExecutor(threads);
        server.start();
    }

    ScriptedServer(Answer... answers) throws IOException {
        this(tokenFor("3600"), answers);
    }

    /** An answer with a token that lives for so many seconds. */
    static String tokenFor(String lifetime) {
        return "{\"access_token\":\"token-%d\",\"expires_in\":" + lifetime + "}";
    }

    Client<Object, Object, java.util.Map<String, Object>> client() {
        String endpoint = "http://127.0.0.1:" + server.getAddress().getPort() + "/key/name/1.0.0/";
        return new Client<>(new Settings(endpoint, "key", "secret", null), Json.decodeAsMap());
    }

    synchronized List<Asked> asked() {
        return List.copyOf(asked);
    }

    synchronized int tokens() {
        return tokens;
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    private void answer(HttpExchange exchange) throws IOException {
        Answer answer = next(exchange);
        if (answer.status() != 0) {
            byte[] content = answer.body().getBytes(StandardCharsets.UTF_8);
            answer.headers().forEach(exchange.getResponseHeaders()::set);
            exchange.sendResponseHeaders(answer.status(), content.length == 0 ? -1 : content.length);
            if (!write(exchange, answer, content)) return;
        }
        exchange.close();
    }

    /** Whether all of it was written. */
    private static boolean write(HttpExchange exchange, Answer answer, byte[] content) throws IOException {
        String pause = answer.headers().getOrDefault(DRIP, answer.headers().get(STALL));
        if (pause == null) {
            if (content.length > 0) exchange.getResponseBody().write(content);
            return true;
        }
        int last = answer.headers().containsKey(STALL) ? content.length - 1 : content.length;
        for (int at = 0; at < last; at += 1) {
            exchange.getResponseBody().write(content, at, 1);
            exchange.getResponseBody().flush();
            Transport.sleep(Double.parseDouble(pause) / 1000);
        }
        return last == content.length;
    }

    private synchronized Answer next(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        String path = exchange.getRequestURI().toASCIIString();
        if (path.equals("/token")) {
            tokens += 1;
            if (token.isEmpty()) return Answer.of(0, "");
            return Answer.of(token.replace("%d", Integer.toString(tokens)));
        }
        var headers = exchange.getRequestHeaders();
        asked.add(new Asked(
                exchange.getRequestMethod(),
                path,
                headers.getFirst("Authorization"),
                headers.getFirst("Idempotency-Key"),
                headers.getFirst("Prefer"),
                body));
        return answers.size() > 1 ? answers.poll() : answers.peek();
    }
}
