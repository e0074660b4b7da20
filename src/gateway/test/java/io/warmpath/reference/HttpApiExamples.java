package io.warmpath.reference;

import java.util.Map;

/** What the page of the HTTP API has beside its description: examples, and where more is said. */
final class HttpApiExamples {
    /** At the beginning of the page. */
    static final String FIRST =
            """
            A first request, with the reasons for its way in the answer's headers:

            <!-- not tested: the model is yours -->
            ```sh
            curl -i localhost:8000/v1/chat/completions -H 'content-type: application/json' -H 'x-warmpath-explain: 1' \\
              -d '{"model":"MODEL","messages":[{"role":"user","content":"Hello"}]}'
            ```\
            """;

    /** Behind what a group is, by its tag. */
    static final Map<String, String> MORE =
            Map.of(
                    "Chat",
                    " [Sessions, pins and hints](../how-to/agents.md) are members of `nvext`;"
                            + " [admission](../how-to/admission.md) says when a request waits or is"
                            + " refused.",
                    "Messages",
                    " [Anthropic's API](anthropic.md) says which members are translated, and how.",
                    "Models",
                    " [Models](../how-to/models.md) says how names, aliases and adapters come"
                            + " about.",
                    "Tokens",
                    " [Where tokens come from](../how-to/models.md#where-tokens-come-from).",
                    "Direct",
                    " [Direct API](direct-api.md) explains it; [Python clients](python-clients.md)"
                            + " call it.",
                    "Status",
                    " [Health](../how-to/observability.md#health) says what a check means, and"
                            + " [metrics](metrics.md) lists the meters.",
                    "Admin",
                    " [Security](../how-to/security.md) says who is an operator, and"
                            + " [operations](../how-to/operations.md) when to use what.");

    /** Below an operation, by method and path. */
    static final Map<String, String> OF =
            Map.of(
                    "POST /v1/messages",
                    """
                    <!-- not tested: the model is yours -->
                    ```sh
                    curl localhost:8000/v1/messages -H 'content-type: application/json' \\
                      -d '{"model":"MODEL","max_tokens":64,"messages":[{"role":"user","content":"Hello"}]}'
                    ```
                    """,
                    "POST /router/best_worker",
                    """
                    <!-- not tested: the model is yours -->
                    ```sh
                    curl localhost:8000/router/best_worker -d '{"token_ids":[1,2,3]}'
                    ```
                    """,
                    "POST /router/reservations",
                    """
                    <!-- not tested: the model is yours -->
                    ```sh
                    curl localhost:8000/router/reservations \\
                      -d '{"token_ids":[1,2,3],"reservation_id":"mine","ttl_seconds":60}'
                    curl -X POST localhost:8000/router/reservations/mine/prefill_complete
                    curl -X DELETE localhost:8000/router/reservations/mine
                    ```
                    """,
                    "POST /workers",
                    """
                    <!-- not tested: the model is yours -->
                    ```sh
                    curl localhost:8000/workers -H 'content-type: application/json' \\
                      -d '{"url":"http://10.0.0.3:30000","name":"w3"}'
                    ```
                    """,
                    "POST /workers/{worker}/drain",
                    """
                    <!-- not tested: the model is yours -->
                    ```sh
                    curl -X POST localhost:8000/workers/w3/drain -H 'content-type: application/json' \\
                      -d '{"reason":"new drivers"}'
                    ```
                    """,
                    "GET /router/decisions",
                    """
                    <!-- not tested: the model is yours -->
                    ```sh
                    curl 'localhost:8000/router/decisions?worker=w3&outcome=failed&since=5m&detail=false'
                    ```
                    """);

    private HttpApiExamples() {}
}
