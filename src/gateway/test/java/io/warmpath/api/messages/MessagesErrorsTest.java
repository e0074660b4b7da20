package io.warmpath.api.messages;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.api.error.ErrorMapperTest;
import io.warmpath.fault.GatewayError;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Errors in Anthropic's words. */
class MessagesErrorsTest {
    @Test
    void every_kind_of_error_has_the_type_of_its_status() {
        Map<Integer, String> types = new TreeMap<>();
        ErrorMapperTest.pinned()
                .map(ErrorMapperTest.Pinned::error)
                .forEach(
                        e -> {
                            String body = new String(MessagesErrors.body(e, "r"), UTF_8);
                            String type =
                                    body.replaceAll(".*\"error\":\\{\"type\":\"(\\w+)\".*", "$1");
                            types.put(e.httpStatus(), type);
                        });
        assertEquals(
                Map.ofEntries(
                        Map.entry(400, "invalid_request_error"),
                        Map.entry(401, "authentication_error"),
                        Map.entry(403, "permission_error"),
                        Map.entry(404, "not_found_error"),
                        Map.entry(405, "invalid_request_error"),
                        Map.entry(408, "invalid_request_error"),
                        Map.entry(409, "invalid_request_error"),
                        Map.entry(413, "request_too_large"),
                        Map.entry(429, "rate_limit_error"),
                        Map.entry(500, "api_error"),
                        Map.entry(502, "api_error"),
                        Map.entry(503, "overloaded_error"),
                        Map.entry(504, "timeout_error"),
                        Map.entry(529, "overloaded_error")),
                types);
    }

    @Test
    void an_error_names_its_member_and_its_request() {
        assertEquals(
                "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
                        + "\"message\":\"top_k: not \\\"so\\\"\"},\"request_id\":\"r\"}",
                new String(
                        MessagesErrors.body(
                                new GatewayError.BadRequest("top_k", "not \"so\""), "r"),
                        UTF_8));
        assertEquals(
                List.of("event: error", "data: {}", ""),
                new String(MessagesErrors.event("{}".getBytes(UTF_8)), UTF_8).lines().toList());
    }
}
