package io.platform.client;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What the client promises, tried on a server that answers as each test tells it. Needs no library but those of the client. */
public final class CoreTest {
    private static final String ID = "0198a9a4-0000-7000-8000-000000000001";
    private static final Answer RUNNING = Answer.of(describe("RUNNING"));
    private static final Answer PENDING = Answer.of(201, describe("PENDING"));
    private static final Answer SUCCEEDED = Answer.of(describe("SUCCEEDED"));
    private static final Answer CUT = Answer.of(0, "");

    @Retention(RetentionPolicy.RUNTIME)
    private @interface Promise {}

    private CoreTest() {}

    public static void main(String[] arguments) throws IllegalAccessException {
        List<Method> tests = Arrays.stream(CoreTest.class.getDeclaredMethods())
                .filter(one -> one.isAnnotationPresent(Promise.class))
                .sorted(Comparator.comparing(Method::getName))
                .toList();
        int failed = 0;
        for (Method test : tests) {
            try {
                test.invoke(null);
                System.out.println("ok " + test.getName());
            } catch (InvocationTargetException error) {
                failed += 1;
                System.out.println("FAILED " + test.getName());
                error.getCause().printStackTrace(System.out);
            }
        }
        System.out.println("Ran " + tests.size() + " tests, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    @Promise
    static void concurrentCallersShareOneToken() throws Exception {
        try (var server = new ScriptedServer(RUNNING)) {
            var client = server.client();
            var calls = IntStream.range(0, 50).mapToObj(n -> client.stateAsync(ID)).toArray(CompletableFuture[]::new);
            CompletableFuture.allOf(calls).join();
            equal(server.tokens(), 1);
            equal(server.asked().stream().map(ScriptedServer.Asked::authorization).distinct().toList(), List.of("Bearer token-1"));
        }
    }

    @Promise
    static void threadsOfAClientEndWhenTheyHaveNoWork() throws Exception {
        try (var server = new ScriptedServer(RUNNING)) {
            server.client().stateAsync(ID).join();
            long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
            while (Thread.getAllStackTraces().keySet().stream().anyMatch(one -> one.getName().startsWith("platform-client-"))) {
                holds(System.nanoTime() < end, "a thread without work has ended");
                Thread.sleep(50);
            }
        }
    }

    @Promise
    static void whatIsNotAwaitedAnyMoreTakesNoThread() throws Exception {
        List<Consumer<CompletableFuture<Execution>>> ways = List.of(
                one -> one.cancel(true),
                one -> fails(CompletionException.class, () -> one.orTimeout(1, TimeUnit.MILLISECONDS).join()),
                one -> equal(one.completeOnTimeout(null, 1, TimeUnit.MILLISECONDS).join(), null));
        for (var way : ways) {
            try (var server = new ScriptedServer(RUNNING)) {
                var client = server.client();
                var waiting = IntStream.range(0, 64).mapToObj(n -> client.waitAsync(ID, null)).toList();
                while (server.asked().size() < 64) Thread.sleep(10);
                waiting.forEach(way);
                equal(client.stateAsync(ID).get(20, TimeUnit.SECONDS).status(), "RUNNING");
            }
        }
    }

    @Promise
    static void aTokenIsRenewedBeforeItExpires() throws Exception {
        try (var server = new ScriptedServer(ScriptedServer.tokenFor("0.4"), RUNNING)) {
            var client = server.client();
            client.state(ID);
            Thread.sleep(250);
            client.state(ID);
            equal(server.tokens(), 2);
        }
    }

    @Promise
    static void aRefusedTokenIsRenewedOnce() throws Exception {
        Answer refused = Answer.of(401, "{\"code\":\"UNAUTHENTICATED\"}");
        try (var server = new ScriptedServer(refused, RUNNING)) {
            server.client().state(ID);
            equal(server.tokens(), 2);
        }
        try (var server = new ScriptedServer(refused)) {
            var client = server.client();
            equal(fails(RequestRefused.class, () -> client.state(ID)).status(), 401);
            equal(server.asked().size(), 2);
        }
    }

    @Promise
    static void aTokenThatAnotherCallerHasReplacedAlreadyIsNotReplacedAgain() throws Exception {
        try (var server = new ScriptedServer(RUNNING)) {
            String url = server.client().endpoint().replaceFirst("/key/.*", "/token");
            var tokens = new Tokens(new Transport(), new Settings(url, "key", "secret", url));
            String refused = tokens.get(Transport.FOREVER);
            tokens.drop(refused);
            String renewed = tokens.get(Transport.FOREVER);
            tokens.drop(refused);
            equal(tokens.get(Transport.FOREVER), renewed);
            equal(server.tokens(), 2);
        }
    }

    @Promise
    static void anotherKeyIsUsedFromThenOn() throws Exception {
        try (var server = new ScriptedServer(RUNNING)) {
            var client = server.client();
            client.state(ID);
            client.useKey("other", "secret");
            client.state(ID);
            equal(server.asked().get(1).authorization(), "Bearer token-2");
        }
    }

    @Promise
    static void aStartIsSentAgainAsItWasAfterACutConnectionAnd503() throws Exception {
        Answer away = Answer.of(503, "{}").with("Retry-After", "0");
        try (var server = new ScriptedServer(CUT, away, PENDING)) {
            equal(server.client().start(Map.of("a", 1), null).status(), "PENDING");
            equal(server.asked().size(), 3);
            equal(server.asked().stream().map(ScriptedServer.Asked::idempotencyKey).distinct().count(), 1L);
            equal(bodies(server), List.of("{\"data\":{\"a\":1}}"));
        }
    }

    @Promise
    static void eachStartHasAKeyOfItsOwn() throws Exception {
        try (var server = new ScriptedServer(PENDING)) {
            var client = server.client();
            client.start(null, null);
            client.start(null, null);
            equal(server.asked().stream().map(ScriptedServer.Asked::idempotencyKey).distinct().count(), 2L);
        }
    }

    @Promise
    static void retryAfterIsObeyedAndALongOneIsLeftToTheCaller() throws Exception {
        Answer busy = Answer.of(429, "{\"code\":\"RATE_LIMITED\"}");
        try (var server = new ScriptedServer(busy.with("Retry-After", "1"), PENDING)) {
            var client = server.client();
            takesAtLeast(Duration.ofSeconds(1), () -> client.start(null, null));
        }
        try (var server = new ScriptedServer(busy.with("Retry-After", "3600"))) {
            var client = server.client();
            equal(fails(RequestRefused.class, () -> client.start(null, null)).code(), "RATE_LIMITED");
            equal(server.asked().size(), 1);
        }
    }

    @Promise
    static void otherRefusalsAreToldAndNotRepeated() throws Exception {
        for (int status : new int[] {400, 500}) {
            String body = "{\"code\":\"INVALID_INPUT\",\"detail\":\"no\",\"errors\":[{\"path\":\"/data\"}]}";
            try (var server = new ScriptedServer(Answer.of(status, body).with("X-Request-Id", "r1"))) {
                var client = server.client();
                var error = fails(RequestRefused.class, () -> client.start(null, null));
                equal(List.of(error.status(), error.code(), error.detail()), List.of(status, "INVALID_INPUT", "no"));
                equal(error.errors(), List.of(Map.of("path", "/data")));
                equal(error.requestId(), "r1");
                equal(server.asked().size(), 1);
            }
        }
    }

    @Promise
    static void waitingAsksAtOnceWhereTheServerWaitsAndOnlyTerminalEndsIt() throws Exception {
        Answer paused = Answer.of(describe("PAUSED"));
        Answer stopped = Answer.of(describe("SUCCEEDED").replace("SUCCEEDED", "STOPPED"));
        Map<String, String> waits = Map.of("Preference-Applied", "wait=30", "Retry-After", "20");
        try (var server = new ScriptedServer(
                new Answer(200, RUNNING.body(), waits), new Answer(200, paused.body(), waits), stopped, SUCCEEDED)) {
            long began = System.nanoTime();
            equal(server.client().wait(ID, null).status(), "STOPPED");
            holds(System.nanoTime() - began < Duration.ofSeconds(5).toNanos(), "it asked at once");
            equal(server.asked().get(0).prefer(), "wait=30");
            equal(server.asked().size(), 3);
        }
    }

    @Promise
    static void waitingPausesWhereTheServerDoesNotWait() throws Exception {
        try (var server = new ScriptedServer(RUNNING.with("Retry-After", "1"), SUCCEEDED)) {
            var client = server.client();
            takesAtLeast(Duration.ofSeconds(1), () -> client.wait(ID, null));
        }
    }

    @Promise
    static void noRetryAfterMakesWaitingEndlessOrABusyLoop() throws Exception {
        String weeks = "Fri, 31 Dec 9999 23:59:59 GMT";
        for (String asked : List.of("2419200", "9".repeat(400), weeks)) equal(pauseAfter(asked), Transport.PATIENCE);
        String past = "Sun, 06 Nov 1994 08:49:37 GMT";
        String beyond = weeks.replace("9999", "9".repeat(30));
        for (String asked : List.of("0", past, "-1", "1.5", "1 2 3", "soon", "NaN", "", "\u0663", beyond)) {
            double pause = pauseAfter(asked);
            holds(pause >= 0.25 && pause <= 0.5, asked + ": " + pause);
        }
        for (Answer answer : List.of(RUNNING.with("Retry-After", "0"), RUNNING.with("Preference-Applied", "wait=30"))) {
            try (var server = new ScriptedServer(answer)) {
                var client = server.client();
                fails(WaitTimeout.class, () -> client.wait(ID, Duration.ofSeconds(1)));
                holds(server.asked().size() <= 5, "it asked " + server.asked().size() + " times");
            }
        }
    }

    private static double pauseAfter(String asked) {
        var headers = HttpHeaders.of(Map.of("Retry-After", List.of(asked)), (name, value) -> true);
        return Transport.pauseBetween(headers, 0, 1);
    }

    @Promise
    static void aRetryAfterThatIsNoneIsNotLeftToTheCallerAndAVeryLongOneIs() throws Exception {
        for (String asked : List.of("-1", "1.5", "soon")) {
            try (var server = new ScriptedServer(Answer.of(503, "{}").with("Retry-After", asked), RUNNING)) {
                equal(server.client().state(ID).status(), "RUNNING");
            }
        }
        try (var server = new ScriptedServer(Answer.of(503, "{}").with("Retry-After", "9".repeat(30)))) {
            var client = server.client();
            fails(RequestRefused.class, () -> client.state(ID));
            equal(server.asked().size(), 1);
        }
    }

    private static final List<String> MISREAD = List.of(
            "<html>hidden</html>",
            "",
            "\u0000",
            "{\"a\": NaN}",
            "[".repeat(100_000),
            "\"hidden\"",
            "null",
            "[5]",
            "{\"status\": 5, \"secret\": \"hidden\"}",
            "{\"_embedded\": {\"status\": \"hidden\"}}");

    @Promise
    static void anAnswerThatIsNotThatOfAServiceIsRefusedAndNotShown() throws Exception {
        for (String body : MISREAD) {
            try (var server = new ScriptedServer(Answer.of(body).with("X-Request-Id", "r1"))) {
                var client = server.client();
                List<Runnable> calls = List.of(
                        () -> client.state(ID),
                        () -> client.wait(ID, null),
                        () -> client.cancel(ID),
                        () -> client.result(ID),
                        () -> client.files(ID),
                        () -> client.log(ID),
                        () -> client.start(null, null),
                        () -> client.run(null, null),
                        () -> client.list(null, 100));
                for (Runnable call : calls) isMisread(call, "r1");
                equal(server.asked().size(), calls.size());
            }
        }
        String state = describe("RUNNING");
        for (String wrong : List.of(
                state.replace("\"" + ID + "\"", "5"),
                state.replace("false", "\"no\""),
                state.replace("\"x\"", "null"),
                state.replace("{", "{\"endedAt\":5,"))) {
            try (var server = new ScriptedServer(Answer.of(wrong), Answer.of("[" + wrong + "]"))) {
                var client = server.client();
                isMisread(() -> client.state(ID), null);
                isMisread(() -> client.list(null, 100), null);
            }
        }
    }

    private static void isMisread(Runnable call, String requestId) {
        RequestRefused error = fails(RequestRefused.class, call);
        equal(List.of(error.status(), error.code(), error.body().keySet()), List.of(200, "HTTP_200", Set.of("detail")));
        holds(error.detail().startsWith("The answer is not "), error.detail());
        equal(error.requestId(), requestId);
        equal(error.getCause(), null);
        holds(!error.toString().contains("hidden"), error.toString());
    }

    @Promise
    static void anAnswerWithoutAnAccessTokenIsRefusedAndNotShown() throws Exception {
        var bodies = new ArrayList<>(MISREAD);
        bodies.add("{\"token\":\"hidden\"}");
        for (String token : List.of("null", "5", "\"\"", "\"hid\\nden\"")) bodies.add("{\"access_token\":" + token + "}");
        // The scripted server cuts the connection for a token that is empty.
        bodies.remove("");
        for (String body : bodies) {
            try (var server = new ScriptedServer(body, RUNNING)) {
                var client = server.client();
                isMisread(() -> client.state(ID), null);
                equal(server.asked(), List.of());
            }
        }
    }

    @Promise
    static void aTokenMayHaveAnyLifetimeOrNone() throws Exception {
        var tokens = Map.of("null", 2, "\"3600\"", 2, "-5", 2, "[]", 2, "1e300", 1);
        for (var one : tokens.entrySet()) {
            try (var server = new ScriptedServer(ScriptedServer.tokenFor(one.getKey()), RUNNING)) {
                var client = server.client();
                client.state(ID);
                client.state(ID);
                equal(server.tokens(), one.getValue());
            }
        }
    }

    @Promise
    static void whatAProxySaysOfARefusalMayBeAnything() throws Exception {
        String odd = "{\"code\":{\"toString\":1},\"detail\":[1],\"errors\":\"no\"}";
        for (String body : List.of("<html>", "", "[1]", "\"no\"", "null", odd, "[".repeat(100_000))) {
            try (var server = new ScriptedServer(Answer.of(502, body))) {
                var client = server.client();
                var error = fails(RequestRefused.class, () -> client.state(ID));
                equal(List.of(error.code(), error.detail(), error.errors()), List.of("HTTP_502", "", List.of()));
            }
        }
        try (var server = new ScriptedServer(Answer.of(400, "{\"errors\":[null]}"))) {
            var client = server.client();
            equal(fails(RequestRefused.class, () -> client.state(ID)).errors().size(), 1);
        }
    }

    @Promise
    static void aTimeoutEndsTheWaitingOnlyAlsoWhileTheServerIsAway() throws Exception {
        for (Answer answer : List.of(RUNNING, Answer.of(503, "{}"), CUT)) {
            try (var server = new ScriptedServer(answer)) {
                var client = server.client();
                equal(fails(WaitTimeout.class, () -> client.wait(ID, Duration.ofMillis(200))).id(), ID);
                equal(server.asked().stream().map(ScriptedServer.Asked::method).distinct().toList(), List.of("GET"));
            }
        }
    }

    @Promise
    static void whatDidNotSucceedIsAnError() throws Exception {
        try (var server = new ScriptedServer(end("FAILED", "\"code\":\"TIMEOUT\",\"detail\":\"late\","))) {
            var client = server.client();
            var error = fails(ExecutionFailed.class, () -> client.result(ID));
            equal(List.of(error.code(), error.detail(), error.id()), List.of("TIMEOUT", "late", ID));
        }
        try (var server = new ScriptedServer(end("UNKNOWN", "\"code\":\"WORKER_LOST\",\"detail\":\"\","))) {
            var client = server.client();
            equal(fails(ExecutionUnknown.class, () -> client.result(ID)).code(), "WORKER_LOST");
        }
    }

    @Promise
    static void digitsAndUnknownMembersAreKept() throws Exception {
        String value = "{\"n\":12345678901234567890123,\"f\":1.100000000000000000001}";
        try (var server = new ScriptedServer(end("SUCCEEDED", "\"news\":1,\"result\":" + value + ","))) {
            var result = server.client().result(ID);
            equal(result.value().get("n"), new BigInteger("12345678901234567890123"));
            equal(result.output().get("f"), new BigDecimal("1.100000000000000000001"));
            holds(result.text().contains(value), "the text is as it came");
            equal(result.body().get("news"), 1);
            equal(result.files(), List.of("a.txt"));
        }
    }

    @Promise
    static void aNumberOfAsManyDigitsAsPythonWritesIsRead() throws Exception {
        String digits = "9".repeat(4_300);
        try (var server = new ScriptedServer(end("SUCCEEDED", "\"result\":{\"n\":-" + digits + "},"))) {
            equal(server.client().result(ID).value().get("n"), new BigInteger("-" + digits));
        }
        equal(Json.parse("{\"n\":" + digits + ".5}"), Map.of("n", new BigDecimal(digits + ".5")));
    }

    @Promise
    static void aLongTextOfAResultIsRead() throws Exception {
        String text = "x".repeat(21_000_000);
        try (var server = new ScriptedServer(end("SUCCEEDED", "\"result\":{\"image\":\"" + text + "\"},"))) {
            equal(server.client().result(ID).value().get("image"), text);
        }
    }

    @Promise
    static void aFlatResultOfTheLocalServerIsRead() throws Exception {
        String body = "{\"result\":1,\"other\":2,\"_links\":{},\"_embedded\":{\"status\":{\"status\":\"SUCCEEDED\"}}}";
        try (var server = new ScriptedServer(Answer.of(body))) {
            equal(server.client().result(ID).value(), Map.of("result", 1, "other", 2));
        }
    }

    @Promise
    static void listsFollowTheCursorAndNeverTheHostOfALink() throws Exception {
        Answer two = Answer.of("[" + describe("FAILED") + "," + describe("FAILED") + "]");
        String link = "<https://elsewhere.example/?cursor=c1&limit=3>; rel=\"next\"";
        try (var server = new ScriptedServer(two.with("Link", link), two)) {
            equal(server.client().list("FAILED", 3).size(), 3);
            equal(server.asked().get(1).path(), "/key/name/1.0.0/?limit=3&status=FAILED&cursor=c1");
        }
    }

    @Promise
    static void aPageThatNamesItselfAsTheNextEndsAList() throws Exception {
        Answer page = Answer.of("[" + describe("FAILED") + "]").with("Link", "<https://host/list?cursor=%zz>; rel=\"next\"");
        try (var server = new ScriptedServer(page)) {
            var client = server.client();
            takesAtMost(Duration.ofSeconds(20), () -> {
                isMisread(() -> client.list(null, 100), null);
                isMisread(() -> client.log(ID), null);
            });
            equal(server.asked().size(), 4);
        }
    }

    @Promise
    static void aPageWithoutItemsEndsAListWhateverItNamesAsTheNext() throws Exception {
        Answer none = Answer.of("[]");
        Answer first = none.with("Link", "<https://host/list?cursor=c1>; rel=\"next\"");
        Answer second = none.with("Link", "<https://host/list?cursor=c2>; rel=\"next\"");
        List<Function<Client<?, ?, ?>, List<?>>> calls = List.of(one -> one.list(null, 100), one -> one.log(ID));
        for (var call : calls) {
            try (var server = new ScriptedServer(first, second, none)) {
                equal(call.apply(server.client()), List.of());
                equal(server.asked().size(), 1);
            }
        }
    }

    @Promise
    static void aReferenceTakesThePlaceOfAValue() throws Exception {
        try (var server = new ScriptedServer(PENDING)) {
            var options = RunOptions.NONE.withMore(Map.of("startWithin", 5));
            server.client().startWith(new FileReference("p", "d", "f"), Map.of("a", 1), options);
            var reference = Map.of("dataPoolId", "p", "dataSourceDescriptorId", "d", "fileId", "f");
            var sent = Json.parse(server.asked().get(0).body());
            equal(sent, Map.of("dataRef", reference, "params", Map.of("a", 1), "startWithin", 5));
        }
    }

    @Promise
    static void aNameThatWouldLeadToAnotherPathIsRefused() throws Exception {
        try (var server = new ScriptedServer(RUNNING)) {
            var client = server.client();
            for (String wrong : Arrays.asList("", ".", "..", null)) {
                List<Runnable> calls = List.of(
                        () -> client.state(wrong),
                        () -> client.wait(wrong, null),
                        () -> client.cancel(wrong),
                        () -> client.result(wrong),
                        () -> client.log(wrong),
                        () -> client.download(ID, wrong));
                for (Runnable call : calls) fails(IllegalArgumentException.class, call);
            }
            equal(server.asked(), List.of());
            equal(server.tokens(), 0);
        }
    }

    @Promise
    static void aUrlThatLeadsElsewhereThanItSeemsIsRefusedAndNotShown() {
        for (String wrong : List.of(
                "localhost:8080/k/n/1.0.0",
                "htps://host/k/n/1.0.0",
                "ftp://host/k/n/1.0.0",
                "https://me:hidden@host/k/n/1.0.0",
                "https:///k/n/1.0.0",
                "https://host:port/k/n/1.0.0",
                "https://host:99999/k/n/1.0.0",
                "https://host/k/n/1.0.0?a=1",
                "https://host/k/n/1.0.0#a",
                "https://host/k/n/1 0",
                "https://host/k/n/1.0.0\r\nHost: a",
                "host")) {
            for (Settings settings : List.of(
                    new Settings(wrong, null, null, null),
                    new Settings("https://host/k/n/1.0.0", "key", "secret", wrong))) {
                var error = fails(IllegalArgumentException.class, () -> Client.of(settings));
                holds(error.getMessage().contains("has to be a URL") && !error.getMessage().contains("hidden"), wrong);
            }
        }
        for (String right : List.of("http://127.0.0.1:80", "https://host/a/b/1.0.0//", "HTTPS://[::1]:8443/a")) {
            Client.of(new Settings(right, "key", "secret", right));
        }
    }

    @Promise
    static void anInputThatJsonOrAHeaderCannotHaveIsRefused() throws Exception {
        try (var server = new ScriptedServer(PENDING)) {
            var client = server.client();
            for (Object number : new Object[] {Double.NaN, Float.POSITIVE_INFINITY, new double[] {Double.NaN}, new float[] {Float.NaN}}) {
                fails(IllegalArgumentException.class, () -> client.start(Map.of("a", number), null));
            }
            fails(IllegalArgumentException.class, () -> client.startWith(null, null, new RunOptions(null, null, "a\r\nb: c")));
            equal(server.asked(), List.of());
            client.startWith(Map.of("a", new double[] {1.5}, "b", 2f), null, new RunOptions(null, null, "k"));
            equal(Json.parse(server.asked().get(0).body()).get("data").toString().contains("[1.5]"), true);
        }
    }

    @Promise
    static void aTimeoutMayBeLongerThanNanosecondsGo() throws Exception {
        try (var server = new ScriptedServer(RUNNING, SUCCEEDED)) {
            equal(server.client().wait(ID, ChronoUnit.FOREVER.getDuration()).status(), "SUCCEEDED");
        }
    }

    @Promise
    static void aTimeoutEndsTheWaitingAlsoWhileThereIsNoToken() throws Exception {
        try (var server = new ScriptedServer("", RUNNING)) {
            var client = server.client();
            fails(WaitTimeout.class, () -> client.wait(ID, Duration.ofMillis(200)));
            equal(server.asked(), List.of());
        }
    }

    @Promise
    static void namesArePartsOfAPath() throws Exception {
        try (var server = new ScriptedServer(RUNNING)) {
            server.client().download("../../x", "a b/ü.txt");
            equal(server.asked().get(0).path(), "/key/name/1.0.0/..%2F..%2Fx/result/a%20b%2F%C3%BC.txt");
        }
    }

    @Promise
    static void anEndpointThatIsNoVersionOfAGatewayIsToldNoSecret() throws Exception {
        try (var server = new ScriptedServer(RUNNING)) {
            for (String path : List.of("", "/name", "/key/name")) {
                String local = server.client().endpoint().replaceFirst("/key/name/.*", path);
                Client.of(new Settings(local, "key", "secret", null)).state(ID);
            }
            holds(server.asked().stream().allMatch(one -> one.authorization() == null), "no token was sent");
            equal(server.asked().stream().map(ScriptedServer.Asked::path).toList(), List.of("/" + ID, "/name/" + ID, "/key/name/" + ID));
            equal(server.tokens(), 0);
        }
    }

    @Promise
    static void aVariableThatIsSetToNothingIsNotSet() {
        var found = Settings.from(Map.of("PLATFORM_SERVICE_ENDPOINT", "", "PLATFORM_ACCESS_KEY_ID", "key"));
        equal(found, new Settings(null, "key", null, null));
    }

    @Promise
    static void aRedirectIsRefusedAtOnceAndNeitherTokenNorSecretFollowIt() throws Exception {
        try (var elsewhere = new ScriptedServer(RUNNING)) {
            String there = elsewhere.client().endpoint();
            for (int status : new int[] {301, 302, 303, 307, 308}) {
                try (var server = new ScriptedServer(Answer.of(status, "{}").with("Location", there))) {
                    var client = server.client();
                    var refusals = List.of(
                            fails(RequestRefused.class, () -> client.state(ID)),
                            fails(RequestRefused.class, () -> client.start(Map.of("a", 1), null)));
                    for (RequestRefused refused : refusals) {
                        equal(refused.status(), status);
                        equal(refused.code(), "HTTP_" + status);
                        holds(refused.getMessage().contains(there), refused.getMessage());
                    }
                    equal(server.asked().size(), 2);
                    String endpoint = client.endpoint();
                    var other = Client.of(new Settings(endpoint, "key", "secret", endpoint + "/moved"));
                    fails(RequestRefused.class, () -> other.state(ID));
                    equal(server.asked().size(), 3);
                }
            }
            equal(elsewhere.asked(), List.of());
            equal(elsewhere.tokens(), 0);
        }
    }

    @Promise
    static void anAnswerMayTakeAsLongAsBytesComeAndIsGivenUpWhenNoneComeAnyMore() throws Exception {
        try (var server = new ScriptedServer(Answer.of("12345678").with(ScriptedServer.DRIP, "150"))) {
            equal(ask(server, Duration.ofMillis(600), Duration.ofMinutes(1)).length, 8);
        }
        try (var server = new ScriptedServer(Answer.of("12345678").with(ScriptedServer.STALL, "150"))) {
            takesAtMost(Duration.ofSeconds(5), () ->
                    fails(OutOfTime.class, () -> ask(server, Duration.ofMillis(300), Duration.ofMillis(100))));
        }
    }

    private static byte[] ask(ScriptedServer server, Duration answer, Duration within) {
        var transport = new Transport();
        String url = server.client().endpoint();
        return transport.send(new Transport.Request("GET", url, Map.of(), null, answer, transport.after(within))).body();
    }

    @Promise
    static void settingsAndRequestsShowNoSecret() {
        String shown = new Settings("http://127.0.0.1/a/b/1.0.0", "key", "hidden", null).toString();
        holds(!shown.contains("hidden") && shown.contains("keyId=key"), shown);
        var headers = Map.of("Authorization", "hidden");
        String request = new Transport.Request("POST", "http://127.0.0.1/token", headers, "hidden", null, 0).toString();
        holds(!request.contains("hidden") && request.contains("/token"), request);
    }

    @Promise
    static void aServerThatCannotBeReachedIsToldAfterFiveTries() throws Exception {
        try (var server = new ScriptedServer(CUT)) {
            var client = server.client();
            fails(ServerUnreachable.class, () -> client.cancel(ID));
            equal(server.asked().size(), 5);
        }
    }

    private static String describe(String status) {
        boolean terminal = List.of("SUCCEEDED", "FAILED", "UNKNOWN").contains(status);
        return "{\"id\":\"" + ID + "\",\"status\":\"" + status + "\",\"terminal\":" + terminal + ",\"createdAt\":\"x\"}";
    }

    private static Answer end(String status, String members) {
        String links = "\"_links\":{\"self\":{},\"status\":{},\"a.txt\":{}}";
        return Answer.of("{" + members + links + ",\"_embedded\":{\"status\":" + describe(status) + "}}");
    }

    private static List<String> bodies(ScriptedServer server) {
        return server.asked().stream().map(ScriptedServer.Asked::body).distinct().collect(Collectors.toList());
    }

    private static void equal(Object found, Object expected) {
        if (!Objects.equals(found, expected)) throw new AssertionError("found " + found + ", expected " + expected);
    }

    private static void holds(boolean condition, String what) {
        if (!condition) throw new AssertionError("not so: " + what);
    }

    private static void takesAtLeast(Duration least, Runnable work) {
        long began = System.nanoTime();
        work.run();
        holds(System.nanoTime() - began >= least.toNanos(), "it took " + least);
    }

    private static void takesAtMost(Duration most, Runnable work) {
        // In a thread of its own, which keeps no test running: what it tries may have no end.
        var call = new FutureTask<>(work, null);
        var thread = new Thread(call);
        thread.setDaemon(true);
        thread.start();
        try {
            call.get(most.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException error) {
            throw new AssertionError(error.getCause());
        } catch (TimeoutException | InterruptedException error) {
            throw new AssertionError("it took more than " + most, error);
        }
    }

    private static <E extends Exception> E fails(Class<E> expected, Runnable work) {
        try {
            work.run();
        } catch (RuntimeException error) {
            if (expected.isInstance(error)) return expected.cast(error);
            throw error;
        }
        throw new AssertionError("it did not fail");
    }
}
