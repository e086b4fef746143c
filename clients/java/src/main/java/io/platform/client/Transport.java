package io.platform.client;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import javax.net.ssl.SSLHandshakeException;

/** Requests over connections that are kept, tried again while that can help. */
final class Transport {
    static final String VERSION = "0.1.0";
    /** Longest time without a byte of an answer that the server does not delay. */
    static final Duration ANSWER = Duration.ofSeconds(60);
    /** In nanoseconds of the clock that only goes forward: never. */
    static final long FOREVER = Long.MAX_VALUE;

    private static final int TRIES = 5;
    private static final Duration CONNECT = Duration.ofSeconds(10);
    /** Beyond it, nanoseconds would overflow. */
    private static final Duration LONGEST = Duration.ofDays(36_500);
    private static final Duration GRACE = Duration.ofSeconds(5);
    private static final double SHORTEST_PAUSE = 0.5;
    private static final double LONGEST_PAUSE = 5;
    /** A longer `Retry-After`, in seconds, is left to the caller; between looks at a state it is cut to this. */
    static final double PATIENCE = 60;

    private static final Pattern HTTP_DATE =
            Pattern.compile("[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT");

    private final long origin = System.nanoTime();
    private final HttpClient http =
            HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .followRedirects(HttpClient.Redirect.NEVER)
                    .connectTimeout(CONNECT)
                    .build();

    /** A request that is safe to send again. `until`: then it is not tried again. */
    record Request(String method, String url, Map<String, String> headers, String body, Duration answer, long until) {
        /** Without headers and body: one has the token, or the key. */
        @Override
        public String toString() {
            return "Request[" + method + " " + url + "]";
        }
    }

    long now() {
        return System.nanoTime() - origin;
    }

    long after(Duration timeout) {
        return timeout == null || timeout.compareTo(LONGEST) > 0 ? FOREVER : now() + timeout.toNanos();
    }

    /** Nanoseconds in which an answer can still be of use. */
    long timeLeft(long until) {
        return until == FOREVER ? FOREVER : Math.max(0, until - now()) + GRACE.toNanos();
    }

    /** Sends until an answer comes that is neither 429 nor 503, at most five times. */
    HttpResponse<byte[]> send(Request request) {
        for (int attempt = 1; ; attempt += 1) {
            Double asked = null;
            ClientException cause;
            try {
                HttpResponse<byte[]> response = exchange(request);
                if (response.statusCode() != 429 && response.statusCode() != 503) return response;
                asked = readRetryAfter(response.headers());
                cause = Answers.refuse(response);
            } catch (SSLHandshakeException error) {
                throw new ServerUnreachable(request.url() + ": " + error, error);
            } catch (IOException error) {
                cause = new ServerUnreachable(request.url() + ": " + error, error);
            } catch (InterruptedException error) {
                throw interrupted(error);
            }
            if (attempt == TRIES || (asked != null && asked > PATIENCE)) throw cause;
            double pause = asked == null ? pauseBefore(attempt) : asked + random(0, 0.2);
            if (request.until() != FOREVER && now() + (long) (pause * 1e9) > request.until()) throw new OutOfTime(cause);
            sleep(pause);
        }
    }

    /** Seconds before the try with this number, from 1: rising, and different for each client. */
    private static double pauseBefore(int attempt) {
        return Math.min(SHORTEST_PAUSE * Math.pow(2, attempt - 1), LONGEST_PAUSE) * random(0.5, 1);
    }

    static void sleep(double seconds) {
        try {
            Thread.sleep((long) (seconds * 1000));
        } catch (InterruptedException error) {
            throw interrupted(error);
        }
    }

    /**
     * Seconds until the next look at a state, bounded whatever a faulty server or proxy asks for. 0: the server has waited itself, as the
     * time shows that its answer took.
     */
    static double pauseBetween(HttpHeaders headers, double took, int attempt) {
        if (headers.firstValue("preference-applied").orElse("").contains("wait")) {
            return took >= SHORTEST_PAUSE ? 0 : pauseBefore(attempt);
        }
        Double asked = readRetryAfter(headers);
        return asked == null ? pauseBefore(attempt) : Math.min(Math.max(asked, SHORTEST_PAUSE), PATIENCE);
    }

    /** Seconds of `Retry-After`, or null where it has not what RFC 9110 allows: digits, or a date. */
    private static Double readRetryAfter(HttpHeaders headers) {
        String text = headers.firstValue("retry-after").orElse("").trim();
        if (text.matches("[0-9]+")) return Double.valueOf(text);
        if (!HTTP_DATE.matcher(text).matches()) return null;
        try {
            ZonedDateTime time = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME);
            return Math.max(0, Duration.between(ZonedDateTime.now(), time).toMillis() / 1000.0);
        } catch (DateTimeException error) {
            return null;
        }
    }

    /** Sends it once. The time-out of the JDK ends with the headers: a body that stops half way would be waited for without end. */
    private HttpResponse<byte[]> exchange(Request request) throws IOException, InterruptedException {
        var seenAt = new AtomicLong(now());
        long silence = request.answer().toNanos();
        long end = request.until() == FOREVER ? FOREVER : now() + timeLeft(request.until());
        var coming = http.sendAsync(build(request), headers -> new Watched(() -> seenAt.set(now())));
        try {
            while (true) {
                long left = Math.min(seenAt.get() + silence, end) - now();
                if (left <= 0) throw new HttpTimeoutException("nothing came in time");
                try {
                    return coming.get(left, TimeUnit.NANOSECONDS);
                } catch (TimeoutException error) {
                    // Unless something has come meanwhile.
                }
            }
        } catch (ExecutionException error) {
            throw error.getCause() instanceof IOException cause ? cause : new IOException(error.getCause());
        } finally {
            coming.cancel(true);
        }
    }

    /** The bytes of a body, telling of each part that it has come. */
    private static final class Watched implements BodySubscriber<byte[]> {
        private final BodySubscriber<byte[]> bytes = BodySubscribers.ofByteArray();
        private final Runnable seen;

        Watched(Runnable seen) {
            this.seen = seen;
            seen.run();
        }

        @Override
        public CompletionStage<byte[]> getBody() {
            return bytes.getBody();
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            bytes.onSubscribe(subscription);
        }

        @Override
        public void onNext(List<ByteBuffer> part) {
            seen.run();
            bytes.onNext(part);
        }

        @Override
        public void onError(Throwable error) {
            bytes.onError(error);
        }

        @Override
        public void onComplete() {
            bytes.onComplete();
        }
    }

    private HttpRequest build(Request request) {
        var body = request.body() == null
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofString(request.body());
        HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(request.url()))
                .method(request.method(), body)
                .header("User-Agent", "platform-client-java/" + VERSION);
        request.headers().forEach(builder::header);
        return builder.build();
    }

    private static double random(double least, double most) {
        return ThreadLocalRandom.current().nextDouble(least, most);
    }

    static ClientException interrupted(InterruptedException error) {
        Thread.currentThread().interrupt();
        return new ClientException("The thread was interrupted.", error);
    }
}
