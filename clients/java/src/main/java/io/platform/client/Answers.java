package io.platform.client;

import com.fasterxml.jackson.core.type.TypeReference;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What answers have to be: a proxy, a login page or a wrong URL may answer in place of a service. */
final class Answers {
    private static final TypeReference<Map<String, Object>> OBJECT = new TypeReference<>() {};
    private static final TypeReference<List<Map<String, Object>>> PAGE = new TypeReference<>() {};

    private Answers() {}

    static Execution readExecution(HttpResponse<byte[]> response) {
        Execution execution = Execution.from(readObject(response));
        if (execution == null) throw misread(response, "the state of an execution");
        return execution;
    }

    /** The result of an execution that has ended: its state is a text. */
    static Map<String, Object> readResult(HttpResponse<byte[]> response) {
        Map<String, Object> body = readObject(response);
        if (!(Result.status(body).get("status") instanceof String)) throw misread(response, "the result of an execution");
        return body;
    }

    static List<Map<String, Object>> readExecutions(HttpResponse<byte[]> response) {
        List<Map<String, Object>> page = Json.read(response.body(), PAGE);
        if (page == null || page.stream().anyMatch(raw -> Execution.from(raw) == null)) {
            throw misread(response, "a list of executions");
        }
        return page;
    }

    static List<Map<String, Object>> readLines(HttpResponse<byte[]> response) {
        List<Map<String, Object>> page = Json.read(response.body(), PAGE);
        if (page == null || page.contains(null)) throw misread(response, "the log of an execution");
        return page;
    }

    /** The answer of a token endpoint. As RFC 6750 has it; anything else could not be sent, and would be shown by what says so. */
    static Map<String, Object> readToken(HttpResponse<byte[]> response) {
        Map<String, Object> answer = readObject(response);
        boolean isToken = answer.get("access_token") instanceof String token && token.matches("[A-Za-z0-9._~+/-]+=*");
        if (!isToken) throw misread(response, "an access token");
        return answer;
    }

    /** The error that says what the server says; of a redirect, that it is not followed. */
    static RequestRefused refuse(HttpResponse<byte[]> response) {
        int status = response.statusCode();
        Map<String, Object> told = readObject(response);
        if (status >= 300 && status < 400) told.put("detail", describeRedirect(response));
        return new RequestRefused(status, told, readRequestId(response));
    }

    /** The error of an answer that is something else; nothing of it is shown, it may be secret. */
    static RequestRefused misread(HttpResponse<?> response, String wanted) {
        String detail = "The answer is not " + wanted
                + ": check the URL, and whether a proxy or a login page answers in its place.";
        return new RequestRefused(response.statusCode(), Map.of("detail", detail), readRequestId(response));
    }

    private static String describeRedirect(HttpResponse<?> response) {
        String to = response.headers().firstValue("location").orElse("an address that is not told");
        return "The server redirects to " + to + ". It is not followed, since the token is for this server alone: "
                + "give the client the endpoint URL of the subscription, or where it has moved to.";
    }

    private static String readRequestId(HttpResponse<?> response) {
        return response.headers().firstValue("x-request-id").orElse(null);
    }

    /** Empty, where the body is no JSON object. */
    private static Map<String, Object> readObject(HttpResponse<byte[]> response) {
        Map<String, Object> body = Json.read(response.body(), OBJECT);
        return body == null ? new LinkedHashMap<>() : body;
    }
}
