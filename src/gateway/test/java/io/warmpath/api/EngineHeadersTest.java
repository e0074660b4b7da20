package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.CsvSource;

/** What an engine's answer may make of a browser that shows it: nothing, on each way out. */
@ExtendWith(Leaks.class)
class EngineHeadersTest {
    private static final List<String> DROPPED =
            List.of(
                    "Set-Cookie: a=b",
                    "Location: http://evil.example/",
                    "Content-Location: /workers",
                    "Refresh: 0; url=/workers",
                    "Link: </x.js>; rel=preload",
                    "Clear-Site-Data: \"*\"",
                    "Service-Worker-Allowed: /",
                    "Access-Control-Allow-Origin: *",
                    "ACCESS-CONTROL-ALLOW-CREDENTIALS: true",
                    "Strict-Transport-Security: max-age=1",
                    "Alt-Svc: h3=\":443\"",
                    "Content-Disposition: attachment; filename=a.html",
                    "NEL: {}",
                    "Report-To: {}",
                    "Reporting-Endpoints: a=\"/x\"",
                    "SourceMap: /x",
                    "X-SourceMap: /x",
                    "Accept-CH: DPR",
                    "Speculation-Rules: \"/x\"",
                    "Content-Security-Policy-Report-Only: default-src *",
                    "WWW-Authenticate: Basic realm=x");

    private static final String OWN =
            "X-Content-Type-Options: off\r\nContent-Security-Policy: default-src *\r\n";
    private static final String HTML = "<script>fetch('/workers')</script>";

    private Gateway gateway;
    private StubEngine engine;

    private void start(EnginePath way, StubEngine.Script script) throws Exception {
        gateway = new Gateway(way);
        engine = new StubEngine(script);
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engine);
    }

    private static void answer(StubEngine.Call call, int status, String headers, String body)
            throws Exception {
        call.send(
                "HTTP/1.1 "
                        + status
                        + " X\r\n"
                        + headers
                        + "Content-Length: "
                        + body.length()
                        + "\r\n\r\n"
                        + body);
    }

    private static void isShownOnly(RawClient.Answer answer) {
        List<String> names =
                answer.head()
                        .lines()
                        .map(line -> line.split(":", 2)[0].toLowerCase(Locale.ROOT))
                        .toList();
        for (String name : List.of("x-content-type-options", "content-security-policy")) {
            assertEquals(1, names.stream().filter(name::equals).count(), answer.head());
        }
        assertEquals("nosniff", answer.header("x-content-type-options"));
        assertEquals("sandbox", answer.header("content-security-policy"));
    }

    @ParameterizedTest
    @ArgumentsSource(EnginePath.Tried.class)
    void a_page_of_an_engine_is_bytes_and_says_nothing_about_the_site(EnginePath way)
            throws Exception {
        String headers =
                "Content-Type: text/html\r\n"
                        + OWN
                        + String.join("\r\n", DROPPED)
                        + "\r\nX-Engine: 1\r\nMetadata: {}\r\nCache-Control: no-store\r\n";
        start(way, call -> answer(call, 200, headers, HTML));
        for (String path :
                List.of(Gateway.CHAT, "/v1/embeddings", "/v1/images/generations", "/rerank")) {
            RawClient.Answer answer = RawClient.post(gateway.port, path, Gateway.ASK_WHOLE);
            assertEquals(HTML, answer.body());
            assertEquals("application/octet-stream", answer.header("content-type"));
            isShownOnly(answer);
            for (String dropped : DROPPED) {
                assertNull(answer.header(dropped.split(":", 2)[0]), answer.head());
            }
            assertEquals("1", answer.header("x-engine"));
            assertEquals("{}", answer.header("metadata"));
            assertEquals("no-store", answer.header("cache-control"));
        }
    }

    @ParameterizedTest
    @ArgumentsSource(EnginePath.Tried.class)
    void so_are_its_errors_and_its_streams(EnginePath way) throws Exception {
        start(way, call -> answer(call, 404, "Content-Type: text/html\r\n", HTML));
        RawClient.Answer error = gateway.post(Gateway.ASK_WHOLE);
        assertEquals(404, error.status());
        assertTrue(!error.header("content-type").contains("html"), error::head);
        isShownOnly(error);
        engine.script(
                call -> {
                    call.send(
                            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream;"
                                    + " charset=utf-8\r\n"
                                    + OWN
                                    + "Set-Cookie: a=b\r\nTransfer-Encoding: chunked\r\n\r\n");
                    call.chunk("data: {\"choices\":[]}\n\n");
                    call.chunk("data: [DONE]\n\n");
                    call.lastChunk();
                });
        RawClient.Answer stream = gateway.post(Gateway.ASK);
        assertEquals(200, stream.status());
        assertEquals("text/event-stream; charset=utf-8", stream.header("content-type"));
        assertNull(stream.header("set-cookie"));
        isShownOnly(stream);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "application/json|true",
                "application/json; charset=utf-8|true",
                "Application/JSON|true",
                "application/problem+json|true",
                "application/x-ndjson|true",
                "application/octet-stream|true",
                "text/plain; charset=utf-8|true",
                "text/event-stream|true",
                "audio/mpeg|true",
                "image/png|true",
                "image/svg+xml|false",
                "IMAGE/SVG+XML|false",
                "text/html|false",
                "text/plain, text/html|false",
                "text/plain;a=b,text/html|false",
                "text/event-stream; charset=utf-8,text/html|false",
                "image/png x|false",
                "text/xml|false",
                "application/xhtml+xml|false",
                "application/pdf|false",
                "application/javascript|false",
                "text/javascript|false",
                "text/css|false",
                "multipart/x-mixed-replace; boundary=x|false",
                "application/json+html|false",
                "json|false"
            })
    void types_that_browsers_only_show_play_or_save_stay(String type, boolean stays)
            throws Exception {
        start(EnginePath.PAST, call -> answer(call, 200, "Content-Type: " + type + "\r\n", "{}"));
        RawClient.Answer answer = RawClient.post(gateway.port, "/v1/audio/speech", Gateway.ASK);
        assertEquals(stays ? type : "application/octet-stream", answer.header("content-type"));
        isShownOnly(answer);
    }

    @Test
    void so_does_a_chat_of_anthropics_api() throws Exception {
        start(EnginePath.PAST, call -> answer(call, 200, "Content-Type: text/html\r\n", HTML));
        String ask =
                "{\"model\":\"m\",\"max_tokens\":5,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
        RawClient.Answer answer = RawClient.post(gateway.port, "/v1/messages", ask);
        assertTrue(!String.valueOf(answer.header("content-type")).contains("html"), answer::head);
    }
}
