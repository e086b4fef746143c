package io.platform.client;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Starts executions of one version of a service and fetches what becomes of them; threads may share it. Where an input is wanted, an
 * object of its class, a map, a {@link FileReference} or null is taken.
 *
 * @param <D> class of `data`
 * @param <P> class of `params`
 * @param <O> class of the result
 */
public class Client<D, P, O> {
    private static final long LONG_POLL_SECONDS = 30;
    private static final int PAGE = 100;
    /** Calls of the twins that return futures, at one time. */
    private static final int MAX_CONCURRENCY = 64;
    private static final AtomicInteger THREADS = new AtomicInteger();

    private final String base;
    private final Function<Map<String, Object>, O> decode;
    private final Transport transport = new Transport();
    private final Tokens tokens;
    private final ExecutorService threads = createThreads();

    public Client(Settings settings, Function<Map<String, Object>, O> decode) {
        this.base = settings.base();
        this.decode = decode;
        boolean hasKey = settings.keyId() != null && settings.secret() != null;
        this.tokens = hasKey && settings.tokenEndpoint() != null ? new Tokens(transport, settings) : null;
    }

    /** A client of any service: input and result are maps. */
    public static Client<Map<String, Object>, Map<String, Object>, Map<String, Object>> of(Settings settings) {
        return new Client<>(settings, Json.decodeAsMap());
    }

    public String endpoint() {
        return base;
    }

    /** Uses another key from now on, such as the one that replaces the former. */
    public void useKey(String keyId, String secret) {
        if (tokens == null) throw new IllegalStateException("The client was made without a key.");
        tokens.useKey(keyId, secret);
    }

    /** Starts an execution. */
    public Execution start(D data, P params) {
        return startWith(data, params, RunOptions.NONE);
    }

    /** Starts an execution, once, however often the request has to be sent. */
    public Execution startWith(Object data, Object params, RunOptions options) {
        Map<String, Object> body = new LinkedHashMap<>();
        put(body, "data", data);
        put(body, "params", params);
        body.putAll(options.more());
        String key = options.idempotencyKey() == null ? UUID.randomUUID().toString() : options.idempotencyKey();
        Map<String, String> headers = Map.of("Content-Type", "application/json", "Idempotency-Key", key);
        return Answers.readExecution(send("POST", "/", headers, Json.write(body), Transport.ANSWER, Transport.FOREVER));
    }

    /** The state at present. */
    public Execution state(String id) {
        return Answers.readExecution(get(Urls.path(id)));
    }

    /** Waits until the execution has ended, however it ended; a timeout of null: for as long as it takes. @throws WaitTimeout it goes on */
    public Execution wait(String id, Duration timeout) {
        long until = transport.after(timeout);
        for (int early = 1; ; ) {
            long began = transport.now();
            HttpResponse<byte[]> response = look(id, timeout, until);
            Execution execution = Answers.readExecution(response);
            if (execution.terminal()) return execution;
            double left = until == Transport.FOREVER ? Double.MAX_VALUE : (until - transport.now()) / 1e9;
            if (left <= 0) throw new WaitTimeout(id, timeout, null);
            double pause = Transport.pauseBetween(response.headers(), (transport.now() - began) / 1e9, early);
            Transport.sleep(Math.min(left, pause));
            early = pause == 0 ? 1 : early + 1;
        }
    }

    /**
     * The result of an execution that has ended.
     *
     * @throws ExecutionFailed it did not succeed
     * @throws ExecutionUnknown nobody knows what became of it
     * @throws RequestRefused RESULT_NOT_READY: it has not ended yet
     */
    public Result<O> result(String id) {
        HttpResponse<byte[]> response = get(Urls.path(id, "result"));
        Map<String, Object> body = Answers.readResult(response);
        Object status = Result.status(body).get("status");
        if ("SUCCEEDED".equals(status)) return new Result<>(new String(response.body(), StandardCharsets.UTF_8), body, decode);
        throw "UNKNOWN".equals(status) ? new ExecutionUnknown(id, body) : new ExecutionFailed(id, body);
    }

    /** Starts, waits for as long as it takes, and fetches the result. */
    public Result<O> run(D data, P params) {
        return runWith(data, params, RunOptions.NONE);
    }

    /** Starts, waits, and fetches the result. */
    public Result<O> runWith(Object data, Object params, RunOptions options) {
        Execution execution = startWith(data, params, options);
        if (!execution.terminal()) wait(execution.id(), options.timeout());
        return result(execution.id());
    }

    /** Cancels it: what waits ends at once, what runs within seconds. */
    public Execution cancel(String id) {
        return Answers.readExecution(send("PUT", Urls.path(id, "cancel"), Map.of(), null, Transport.ANSWER, Transport.FOREVER));
    }

    /** The lines so far, oldest first: `timestamp`, `severity`, `message`. */
    public List<Map<String, Object>> log(String id) {
        return collect(Urls.path(id, "log"), "", Integer.MAX_VALUE, Answers::readLines);
    }

    /** Names of the files of the result. */
    public List<String> files(String id) {
        return result(id).files();
    }

    /** The content of a file of the result, as a whole in memory. */
    public byte[] download(String id, String name) {
        return get(Urls.path(id, "result", name)).body();
    }

    /** The newest executions of the subscription, at most `limit`; a status of null: of every state. */
    public List<Execution> list(String status, int limit) {
        String query = "limit=" + Math.min(limit, PAGE) + (status == null ? "" : "&status=" + Urls.encode(status));
        return collect("/", query, limit, Answers::readExecutions).stream().map(Execution::from).toList();
    }

    public CompletableFuture<Execution> startAsync(D data, P params) {
        return later(() -> start(data, params));
    }

    public CompletableFuture<Execution> stateAsync(String id) {
        return later(() -> state(id));
    }

    public CompletableFuture<Execution> waitAsync(String id, Duration timeout) {
        return later(() -> wait(id, timeout));
    }

    public CompletableFuture<Result<O>> resultAsync(String id) {
        return later(() -> result(id));
    }

    public CompletableFuture<Result<O>> runAsync(D data, P params) {
        return later(() -> run(data, params));
    }

    public CompletableFuture<Execution> cancelAsync(String id) {
        return later(() -> cancel(id));
    }

    /** Who cancels it, gives it a time-out, or completes it takes it from its thread: one that waits for an execution would have it for as long as that runs. */
    private <T> CompletableFuture<T> later(Supplier<T> call) {
        var answer = new CompletableFuture<T>();
        var work = new FutureTask<T>(call::get) {
            @Override
            protected void done() {
                try {
                    answer.complete(get());
                } catch (ExecutionException error) {
                    answer.completeExceptionally(error.getCause());
                } catch (InterruptedException | CancellationException error) {
                    answer.cancel(false);
                }
            }
        };
        // However it was completed: that of the call itself comes when the call has ended, and cancels nothing.
        answer.whenComplete((value, error) -> work.cancel(true));
        threads.execute(work);
        return answer;
    }

    /** Those without work end soon: nobody closes a client. */
    private static ExecutorService createThreads() {
        var threads = new ThreadPoolExecutor(
                MAX_CONCURRENCY, MAX_CONCURRENCY, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), Client::createThread);
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    /** They keep no program running. */
    private static Thread createThread(Runnable work) {
        Thread thread = new Thread(work, "platform-client-" + THREADS.incrementAndGet());
        thread.setDaemon(true);
        return thread;
    }

    private HttpResponse<byte[]> look(String id, Duration timeout, long until) {
        long left = until == Transport.FOREVER ? LONG_POLL_SECONDS : (until - transport.now()) / 1_000_000_000;
        long seconds = Math.max(0, Math.min(left, LONG_POLL_SECONDS));
        Map<String, String> headers = seconds > 0 ? Map.of("Prefer", "wait=" + seconds) : Map.of();
        try {
            return send("GET", Urls.path(id), headers, null, Transport.ANSWER.plusSeconds(seconds), until);
        } catch (OutOfTime error) {
            throw new WaitTimeout(id, timeout, error);
        }
    }

    /** The items of all pages; of a link only the cursor, so that the token stays here. */
    private List<Map<String, Object>> collect(
            String path, String query, int limit, Function<HttpResponse<byte[]>, List<Map<String, Object>>> readPage) {
        List<Map<String, Object>> items = new ArrayList<>();
        String search = query;
        for (String cursor = null; ; ) {
            HttpResponse<byte[]> response = get(search.isEmpty() ? path : path + "?" + search);
            List<Map<String, Object>> page = readPage.apply(response);
            items.addAll(page);
            String next = Urls.readCursor(response.headers().firstValue("link").orElse(""));
            if (page.isEmpty() || next == null || items.size() >= limit) {
                return items.subList(0, Math.min(limit, items.size()));
            }
            if (next.equals(cursor)) throw Answers.misread(response, "the page that was asked for");
            cursor = next;
            search = (query.isEmpty() ? "" : query + "&") + "cursor=" + Urls.encode(cursor);
        }
    }

    private HttpResponse<byte[]> get(String path) {
        return send("GET", path, Map.of(), null, Transport.ANSWER, Transport.FOREVER);
    }

    private HttpResponse<byte[]> send(
            String method, String path, Map<String, String> headers, String body, Duration answer, long until) {
        for (int tries = 1; ; tries += 1) {
            Map<String, String> sent = new LinkedHashMap<>(headers);
            sent.put("Accept", "application/json, */*;q=0.5");
            String token = tokens == null ? null : tokens.get(until);
            if (token != null) sent.put("Authorization", "Bearer " + token);
            HttpResponse<byte[]> response =
                    transport.send(new Transport.Request(method, base + path, sent, body, answer, until));
            if (response.statusCode() < 300) return response;
            if (response.statusCode() != 401 || token == null || tries == 2) throw Answers.refuse(response);
            tokens.drop(token);
        }
    }

    private static void put(Map<String, Object> body, String name, Object value) {
        if (value != null) body.put(value instanceof FileReference ? name + "Ref" : name, value);
    }
}
