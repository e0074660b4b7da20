package io.warmpath.sim.demo;

import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Temporary files of one demo; gone when the process ends, however it ends.
 *
 * @param tokenizer the demo model's, as a file that the gateway can read
 */
record DemoFiles(Path folder, Path tokenizer) {
    static DemoFiles create() throws IOException {
        Path folder = Files.createTempDirectory("warmpath-demo");
        folder.toFile().deleteOnExit();
        Path tokenizer = folder.resolve("tokenizer.json");
        String name = SimTokenizer.DEMO_MODEL;
        try (InputStream json = DemoFiles.class.getClassLoader().getResourceAsStream(name)) {
            if (json == null) {
                throw new IOException("this build holds no " + name);
            }
            Files.copy(json, tokenizer);
        }
        tokenizer.toFile().deleteOnExit();
        return new DemoFiles(folder, tokenizer);
    }

    /** A file that the caller writes. */
    Path file(String name) {
        Path file = folder.resolve(name);
        file.toFile().deleteOnExit();
        return file;
    }

    /** Where the page goes. {@code file}: empty: into a folder of its own, where it stays. */
    Path page(String file) throws IOException {
        return file.isEmpty()
                ? Files.createTempDirectory("warmpath-demo").resolve("demo.html")
                : Path.of(file).toAbsolutePath();
    }

    /** Where a gateway's output goes. */
    Path log(String mode) {
        return file("gateway-" + mode + ".log");
    }
}
