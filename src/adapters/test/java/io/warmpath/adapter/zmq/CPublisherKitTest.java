package io.warmpath.adapter.zmq;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The C library by its example engine, which is built where the gateway's own library is. */
@Tag("slow")
class CPublisherKitTest extends PublisherKitContract {
    private static final Path BUILD = Path.of("target/native");

    @BeforeAll
    static void build() throws Exception {
        Process build =
                new ProcessBuilder(
                                "cmake",
                                "--build",
                                BUILD.toString(),
                                "--target",
                                "kvpublisher_engine")
                        .redirectErrorStream(true)
                        .start();
        String said = new String(build.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, build.waitFor(), () -> "the example engine does not compile: " + said);
    }

    @Override
    List<String> command() {
        return List.of(BUILD.resolve("publisher/kvpublisher_engine").toString());
    }
}
