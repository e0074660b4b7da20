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
