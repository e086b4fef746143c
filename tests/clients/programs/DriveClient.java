import io.platform.promising.PromisingClient;
import io.platform.promising.core.ClientException;
import io.platform.promising.core.Execution;
import io.platform.promising.core.ExecutionException;
import io.platform.promising.core.FileReference;
import io.platform.promising.core.Json;
import io.platform.promising.core.RequestRefused;
import io.platform.promising.core.Result;
import io.platform.promising.core.RunOptions;
import io.platform.promising.core.Settings;
import io.platform.promising.core.WaitTimeout;
import io.platform.promising.models.Data;
import io.platform.promising.models.Output;
import io.platform.promising.models.Params;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

/** Does what each line of standard input asks of a client, and answers with a line (drivers.ts). */
public final class DriveClient {
    private static final Map<String, PromisingClient> CLIENTS = new ConcurrentHashMap<>();

    public static void main(String[] arguments) throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            var ask = Json.parse(line);
            threads.submit(() -> say(ask));
        }
        System.exit(0);
    }

    private static void say(Map<String, Object> ask) {
        Map<String, Object> said = new HashMap<>();
        said.put("ask", ask.get("ask"));
        try {
            said.put("answer", answer(ask));
        } catch (ClientException error) {
            said.put("error", describe(error));
        } catch (Throwable error) {
            said.put("error", Map.of("name", error.getClass().getSimpleName(), "detail", String.valueOf(error)));
        }
        synchronized (System.out) {
            System.out.println(Json.write(said));
        }
    }

    private static Object answer(Map<String, Object> ask) throws Exception {
        PromisingClient client = CLIENTS.get((String) ask.getOrDefault("client", ""));
        String id = (String) ask.get("id");
        switch ((String) ask.get("act")) {
            case "open":
                CLIENTS.put((String) ask.get("client"), new PromisingClient(settings(ask)));
                return true;
            case "useKey":
                client.useKey((String) ask.get("keyId"), (String) ask.get("secret"));
                return true;
            case "runTyped":
                Data data = new Data();
                data.setAct("double");
                data.setNumber(21L);
                Params params = new Params();
                params.setFactor(2L);
                Output output = client.run(data, params).output();
                return Map.of("number", output.getNumber());
            case "run":
                Object input = ask.containsKey("reference") ? reference(ask) : ask.get("data");
                return describe(client.runWith(input, null, new RunOptions(timeout(ask), Map.of(), null)));
            case "start":
                return Map.of("id", client.startWith(ask.get("data"), null, RunOptions.NONE).id());
            case "state":
                return describe(client.state(id));
            case "wait":
                return describe(client.wait(id, timeout(ask)));
            case "result":
                return Map.of("digits", client.result(id).value().get("number").toString());
            case "cancel":
                return describe(client.cancel(id));
            case "files":
                Map<String, Object> texts = new LinkedHashMap<>();
                for (String name : client.files(id)) {
                    texts.put(name, new String(client.download(id, name), StandardCharsets.UTF_8));
                }
                return texts;
            case "log":
                return Map.of("messages", client.log(id).stream().map(line -> line.get("message")).toList());
            case "list":
                return client.list(null, 100).stream().map(Execution::id).toList();
            case "runMany":
                return Map.of("numbers", runMany(ask));
            default:
                throw new IllegalArgumentException(String.valueOf(ask.get("act")));
        }
    }

    private static List<Long> runMany(Map<String, Object> ask) {
        var client = new PromisingClient(settings(ask));
        var calls = IntStream.range(0, (int) ask.get("count")).mapToObj(n -> {
            Data data = new Data();
            data.setAct("double");
            data.setNumber((long) n);
            return client.runAsync(data, null).thenApply(result -> result.output().getNumber());
        });
        return calls.toList().stream().map(CompletableFuture::join).toList();
    }

    private static Settings settings(Map<String, Object> ask) {
        return new Settings((String) ask.get("endpoint"), (String) ask.get("keyId"), (String) ask.get("secret"), null);
    }

    private static Duration timeout(Map<String, Object> ask) {
        return ask.get("timeout") instanceof Number seconds ? Duration.ofMillis((long) (seconds.doubleValue() * 1000)) : null;
    }

    @SuppressWarnings("unchecked")
    private static FileReference reference(Map<String, Object> ask) {
        var ids = (List<String>) ask.get("reference");
        return new FileReference(ids.get(0), ids.get(1), ids.get(2));
    }

    private static Map<String, Object> describe(Execution execution) {
        return Map.of("status", execution.status(), "terminal", execution.terminal());
    }

    private static Map<String, Object> describe(Result<Output> result) throws Exception {
        String text = (String) result.value().get("text");
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        return Map.of(
                "digits", result.value().get("number").toString(),
                "length", text.length(),
                "sha256", HexFormat.of().formatHex(hash));
    }

    private static Map<String, Object> describe(ClientException error) {
        Map<String, Object> found = new HashMap<>();
        found.put("name", error.getClass().getSimpleName());
        found.put("detail", String.valueOf(error.getMessage()));
        if (error instanceof ExecutionException ended) found.putAll(Map.of("code", ended.code(), "id", ended.id()));
        if (error instanceof WaitTimeout late) found.put("id", late.id());
        if (error instanceof RequestRefused refused) {
            found.putAll(Map.of("code", refused.code(), "status", refused.status()));
        }
        return found;
    }
}
