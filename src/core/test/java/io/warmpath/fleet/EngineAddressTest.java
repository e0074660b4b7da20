package io.warmpath.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EngineAddressTest {
    @ParameterizedTest
    @CsvSource({
        "http://h:8000,   false, false, h,   8000, h:8000",
        "http://h,        false, false, h,   80,   h",
        "https://h,       true,  false, h,   443,  h",
        "http://[::1]:80, false, false, ::1, 80,   [::1]",
        "h2c://h:8000,    false, true,  h,   8000, h:8000",
        "h2://h,          true,  true,  h,   443,  h",
    })
    void the_scheme_says_what_is_spoken(
            URI url, boolean tls, boolean http2, String host, int port, String authority) {
        EngineAddress a = EngineAddress.of(EngineAddress.checked(url));
        assertEquals(new EngineAddress(tls, http2, null, host, port, authority, ""), a);
        assertEquals(http2, EngineAddress.isHttp2(url));
    }

    @Test
    void a_path_comes_before_every_request() {
        URI checked = EngineAddress.checked(URI.create("http://h:1/base//"));
        assertEquals("http://h:1/base", checked.toString());
        assertEquals("/base", EngineAddress.of(checked).path());
        assertEquals("", EngineAddress.of(URI.create("http://h:1")).path());
    }

    @ParameterizedTest
    @CsvSource({
        "http://h:1/v1,                        http://h:1",
        "http://h:1/v1/,                       http://h:1",
        "https://h/base/v1,                    https://h/base",
        "http://h:1/v1/models,                 http://h:1",
        "http://h:1/v1/chat/completions,       http://h:1",
        "http://v1,                            http://v1",
        "http://h/api/v1/services/engine/proxy, http://h/api/v1/services/engine/proxy",
        "http://h/notv1,                       http://h/notv1",
    })
    void the_path_of_the_api_is_no_part_of_the_address(String written, String meant) {
        assertEquals(meant, WorkerSpec.parse(written).toString());
    }

    @ParameterizedTest
    @CsvSource({
        "localhost:8000,   http://localhost:8000",
        "127.0.0.1:8000,   http://127.0.0.1:8000",
        "my_engine:8000,   http://my_engine:8000",
        "h,                http://h",
        "//h:1,            http://h:1",
        "me:word@h:1,      http://host:port",
    })
    void an_address_without_scheme_is_refused_with_the_right_form(String written, String right) {
        String message =
                assertThrows(IllegalArgumentException.class, () -> WorkerSpec.parse(written))
                        .getMessage();
        assertTrue(message.endsWith("has no scheme: write `" + right + "`"), message);
        assertFalse(message.contains("word"), message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://h:0", "https://h:0/base", "h2c://h:00", "http://h:65536"})
    void a_port_that_nobody_listens_on_is_refused(String written) {
        String message =
                assertThrows(IllegalArgumentException.class, () -> WorkerSpec.parse(written))
                        .getMessage();
        assertTrue(message.contains("must have a port from 1 to 65535"), message);
        assertEquals(65535, WorkerSpec.parse("http://h:65535").getPort());
    }

    @Test
    void a_socket_file_has_one_form_and_no_network() {
        URI checked = EngineAddress.checked(URI.create("unix:/run/my%20engine.sock"));
        assertEquals("unix:///run/my%20engine.sock", checked.toString());
        EngineAddress a = EngineAddress.of(checked);
        assertEquals("/run/my engine.sock", a.socket());
        assertEquals("localhost", a.authority());
        assertEquals("127.0.0.1", EngineAddress.hostOf(checked));
        assertNull(EngineAddress.of(URI.create("http://h:1")).socket());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ftp://h",
                "http:///x",
                "h:8000",
                "unix://",
                "unix:///",
                "unix:///run/",
                "unix:run",
                "unix://host/run/x",
                "unix:///x?a=1",
                "http://h#f",
                "http://h?q"
            })
    void what_is_no_engine_is_refused_with_the_url(String url) {
        String message =
                assertThrows(IllegalArgumentException.class, () -> WorkerSpec.parse(url))
                        .getMessage();
        assertTrue(message.contains("`" + url + "`"), message);
    }

    @Test
    void a_user_in_the_url_is_refused_and_not_repeated() {
        String message =
                assertThrows(
                                IllegalArgumentException.class,
                                () -> WorkerSpec.parse("http://me:word@h:1"))
                        .getMessage();
        assertTrue(message.contains("`h`"), message);
        assertFalse(message.contains("word"), message);
    }

    @Test
    void a_socket_file_the_kernel_cannot_name_is_refused() {
        EngineAddress.checked(URI.create("unix:///" + "x".repeat(106)));
        assertThrows(
                IllegalArgumentException.class,
                () -> EngineAddress.checked(URI.create("unix:///" + "x".repeat(107))));
    }
}
