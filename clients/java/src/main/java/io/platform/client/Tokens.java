package io.platform.client;

import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;

/** The access token: fetched once, shared by concurrent callers, renewed before it expires. */
final class Tokens {
    private static final double RENEWED_BEFORE = 60;
    private static final double YEAR = 365 * 86_400;

    private final Transport transport;
    private final ReentrantLock lock = new ReentrantLock();
    private final String url;
    private String keyId;
    private String secret;
    private String token;
    private long renewAt;

    Tokens(Transport transport, Settings settings) {
        this.transport = transport;
        this.url = settings.tokenEndpoint();
        this.keyId = settings.keyId();
        this.secret = settings.secret();
    }

    /** The token; where there is none, or where it is about to expire, a new one. The caller waits no longer than `until`. */
    String get(long until) {
        lock(transport.timeLeft(until));
        try {
            if (token == null || transport.now() >= renewAt) fetch(until);
            return token;
        } finally {
            lock.unlock();
        }
    }

    private void lock(long nanoseconds) {
        try {
            if (lock.tryLock(nanoseconds, TimeUnit.NANOSECONDS)) return;
        } catch (InterruptedException error) {
            throw Transport.interrupted(error);
        }
        throw new OutOfTime(new TimeoutException("another caller is still asking for the token"));
    }

    /** Forgets a token that was refused, unless another caller has replaced it already. */
    void drop(String refused) {
        lock.lock();
        try {
            if (refused.equals(token)) token = null;
        } finally {
            lock.unlock();
        }
    }

    /** Uses another key from now on. */
    void useKey(String otherKeyId, String otherSecret) {
        lock.lock();
        try {
            keyId = otherKeyId;
            secret = otherSecret;
            token = null;
        } finally {
            lock.unlock();
        }
    }

    private void fetch(long until) {
        token = null;
        // RFC 6749, section 2.3.1: both are encoded before they are joined.
        String pair = encode(keyId) + ":" + encode(secret);
        Map<String, String> headers = Map.of(
                "Authorization", "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8)),
                "Content-Type", "application/x-www-form-urlencoded",
                "Accept", "application/json");
        String body = "grant_type=client_credentials";
        HttpResponse<byte[]> response = transport.send(
                new Transport.Request("POST", url, headers, body, Transport.ANSWER, until));
        if (response.statusCode() != 200) throw Answers.refuse(response);
        Map<String, Object> answer = Answers.readToken(response);
        // 0, where the server does not say: then each request has its own.
        double lifetime = answer.get("expires_in") instanceof Number seconds ? Math.max(0, Math.min(seconds.doubleValue(), YEAR)) : 0;
        token = (String) answer.get("access_token");
        double used = lifetime - Math.min(RENEWED_BEFORE, lifetime / 2);
        renewAt = transport.after(Duration.ofMillis((long) (used * 1000)));
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
