package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** Libraries beside a native executable are taken; what the operator set stays. */
@ResourceLock(Resources.SYSTEM_PROPERTIES)
class ExecutableLibrariesTest {
    private static final List<String> NAMES =
            List.of(
                    "jna.boot.library.path",
                    "jna.nounpack",
                    "warmpath.index.native-path",
                    "RUST_LIBRARY_PATH");

    private final Map<String, @Nullable String> before = new HashMap<>();

    @TempDir Path folder;

    @BeforeEach
    void clear() {
        for (String name : NAMES) {
            before.put(name, System.getProperty(name));
            System.clearProperty(name);
        }
    }

    @AfterEach
    void restore() {
        before.forEach(
                (name, value) -> {
                    if (value == null) {
                        System.clearProperty(name);
                    } else {
                        System.setProperty(name, value);
                    }
                });
    }

    @Test
    void all_that_lie_there_are_taken() throws IOException {
        for (String file : List.of("libjnidispatch.so", "libkvindex.so", "libtokenizers.so")) {
            Files.createFile(folder.resolve(file));
        }
        ExecutableLibraries.use(folder);
        assertEquals(folder.toString(), System.getProperty("jna.boot.library.path"));
        assertEquals("true", System.getProperty("jna.nounpack"));
        assertEquals(folder.toString(), System.getProperty("warmpath.index.native-path"));
        assertEquals(
                folder.resolve("libtokenizers.so").toString(),
                System.getProperty("RUST_LIBRARY_PATH"));
    }

    @Test
    void what_is_set_or_does_not_lie_there_is_left_alone() throws IOException {
        Files.createFile(folder.resolve("libkvindex.so"));
        System.setProperty("warmpath.index.native-path", "/elsewhere");
        ExecutableLibraries.use(folder);
        assertEquals("/elsewhere", System.getProperty("warmpath.index.native-path"));
        assertNull(System.getProperty("jna.boot.library.path"));
        assertNull(System.getProperty("RUST_LIBRARY_PATH"));
    }

    @Test
    void a_jvm_takes_none() {
        ExecutableLibraries.use();
        assertNull(System.getProperty("jna.boot.library.path"));
    }
}
