package io.warmpath.adapter.zmq;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The Python package by its example engine, in the virtual environment of the end-to-end tests. */
@Tag("slow")
class PythonPublisherKitTest extends PublisherKitContract {
    private static final String SOURCES = "src/clients/publisher";

    private static String python = "";

    @BeforeAll
    static void install() throws Exception {
        Process install =
                new ProcessBuilder("sh", "src/test/e2e/venv.sh")
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        String said = new String(install.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, install.waitFor(), "the packages could not be installed, see above");
        python = said.strip() + "/bin/python";
    }

    @Override
    List<String> command() {
        return List.of(
                "env", "PYTHONPATH=" + SOURCES, python, "-B", SOURCES + "/examples/engine.py");
    }
}
