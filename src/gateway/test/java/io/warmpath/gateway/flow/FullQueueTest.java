package io.warmpath.gateway.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.vertx.core.MultiMap;
import io.warmpath.gateway.request.GatewayJson;
import io.warmpath.net.HeaderList;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which answers say that a queue is full, by the words of those that say so. */
class FullQueueTest {
    private static JsonNode json(String text) {
        return GatewayJson.tree(text.replace('\'', '"'));
    }

    private static boolean full(int status, String body, String... headers) {
        MultiMap head = new HeaderList();
        for (int i = 0; i < headers.length; i += 2) {
            head.add(headers[i], headers[i + 1]);
        }
        return FullQueue.says(status, head, json(body));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'object':'error','message':'The request queue is full.','type':'503','code':503}",
                "{'error':{'message':'The request queue is full.','type':'Service Unavailable'}}",
                "{'message':'The request is aborted by a higher priority request.'}",
                "{'message':'Request waiting timeout reached.'}",
                "{'type':'error','error':{'type':'overloaded_error','message':'Internal server'}}",
                "{'error':{'message':'The engine is currently busy and cannot accept new requests."
                        + " Please try again later or on a different instance.','code':503}}",
                "{'error':{'message':'The engine has reached its prefill token backlog limit."
                        + " Please try again later or on a different instance.','code':503}}",
                "{'error':'Exceeds maximum queue size'}",
                "{'message':'Service temporarily unavailable: All workers are busy, please retry"
                        + " later','type':'service_unavailable','code':503}",
                "{'error':'Model is overloaded','error_type':'overloaded'}",
                "{'detail':'The request queue is full.'}",
            })
    void a_503_that_says_so(String body) {
        assertTrue(full(503, body), body);
        assertFalse(full(500, body), "another status is a fault");
        assertFalse(full(502, body), "another status is a fault");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "<html><head><title>503 Service Temporarily Unavailable</title></head></html>",
                "no healthy upstream",
                "{'error':'The model is currently scaling. Please try again later.'}",
                "{'error':{'message':'Loading model','type':'unavailable_error','code':503}}",
                "{'object':'error','message':'Request running timeout reached.','code':503}",
                "{'object':'error','message':'Using priority is disabled for this server.'}",
                "{'error':{}}",
                "[]",
                "null",
            })
    void another_503_is_a_broken_engine(String body) {
        assertFalse(full(503, body), body);
        assertTrue(full(503, body, "Retry-After", "2"), "unless it says when it will be well");
        assertTrue(full(503, body, "x-envoy-overloaded", "true"));
    }

    @Test
    void a_429_is_a_full_queue_unless_it_is_about_the_clients_key() {
        assertTrue(full(429, ""));
        assertTrue(full(429, "{'error':{'message':'slow down','type':'rate_limit_error'}}"));
        assertTrue(full(529, ""));
        assertFalse(full(429, "{'error':{'code':'insufficient_quota'}}"));
        assertFalse(full(429, "{'error':{'type':'tokens','code':'rate_limit_exceeded'}}"));
        assertFalse(full(429, "", "X-RateLimit-Remaining-Requests", "0"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "true | {'error':{'object':'error','message':'The request queue is full.',"
                        + "'type':'SERVICE_UNAVAILABLE','code':503}}",
                "true | {'text':'','meta_info':{'finish_reason':{'type':'abort','message':"
                        + "'The request queue is full.','status_code':503}}}",
                "true | {'type':'response.failed','response':{'error':{'code':'server_error',"
                        + "'message':'The request queue is full.'}}}",
                "true | {'error':{'message':'x','code':429}}",
                "false | {'error':{'message':'x','code':429,'type':'requests'}}",
                "false | {'error':{'message':'CUDA error','code':500}}",
                "false | {'error':null,'message':'The request queue is full.'}",
                "false | {'choices':[{'delta':{'content':'The request queue is full.'}}]}",
                "false | {'meta_info':{'finish_reason':{'type':'stop','message':'queue is full'}}}",
            })
    void an_event_that_says_so(boolean says, String event) {
        assertEquals(says, FullQueue.says(new HeaderList(), json(event)), event);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "-, -, 1",
                "0, -, 1",
                "7, -, 7",
                "60, -, 60",
                "61, -, 60",
                "99999999999999999999, -, 60",
                "-5, -, 1",
                "1.5, -, 1",
                "soon, -, 1",
                "'', -, 1",
                "'Sun, 06 Nov 1994 08:49:40 GMT', 'Sun, 06 Nov 1994 08:49:37 GMT', 3",
                "'Sun, 06 Nov 1994 08:49:30 GMT', 'Sun, 06 Nov 1994 08:49:37 GMT', 1",
                "'Mon, 06 Nov 2094 08:49:30 GMT', -, 1",
                "'Sun, 06 Nov 1994 09:49:40 GMT', 'Sun, 06 Nov 1994 08:49:37 GMT', 60",
            })
    void a_pause_is_what_was_asked_for_within_bounds(String after, String date, int seconds) {
        MultiMap head = new HeaderList();
        if (after != null) {
            head.add("Retry-After", after);
        }
        if (date != null) {
            head.add("Date", date);
        }
        assertEquals(Duration.ofSeconds(seconds), FullQueue.pause(head));
    }
}
