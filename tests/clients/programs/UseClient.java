import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.ExecutionsApi;
import org.openapitools.client.model.Execution;
import org.openapitools.client.model.Params;
import org.openapitools.client.model.Result;
import org.openapitools.client.model.StartRequest;

/** Starts, polls and fetches results with the client that openapi-generator wrote. */
public class UseClient {
    private final ExecutionsApi api;

    UseClient(String endpoint, String token) {
        ApiClient client = new ApiClient();
        client.updateBaseUri(endpoint.replaceAll("/$", ""));
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
        api = new ExecutionsApi(client);
    }

    private record Finished(Execution state, Result result) {}

    private Finished finish(Map<String, Object> data) throws Exception {
        StartRequest request = new StartRequest().data(data).params(new Params().factor(21));
        Execution state = api.startExecution(request, null, null);
        while (!state.getTerminal()) {
            state = api.getState(state.getId(), "wait=10", null);
        }
        return new Finished(state, api.getResult(state.getId(), null));
    }

    public static void main(String[] arguments) throws Exception {
        UseClient client = new UseClient(System.getenv("ENDPOINT"), System.getenv("TOKEN"));
        Finished good = client.finish(Map.of("numbers", List.of(1, 2)));
        Finished bad = client.finish(Map.of("act", "raise"));
        List<Execution> listed = client.api.listExecutions(2, null, null, null, null);
        Map<String, Object> seen = Map.of(
            "succeeded", List.of(good.state().getStatus().getValue(), good.result().getResult()),
            "failed", List.of(bad.state().getStatus().getValue(), bad.result().getCode()),
            "listed", listed.stream().map(execution -> execution.getStatus().getValue()).toList());
        System.out.print(new ObjectMapper().writeValueAsString(seen));
    }
}
