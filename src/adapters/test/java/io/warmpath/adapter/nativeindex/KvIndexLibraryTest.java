package io.warmpath.adapter.nativeindex;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Platform;
import io.warmpath.prefix.PrefixIndex;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KvIndexLibraryTest {
    @TempDir Path folder;

    @Test
    void a_library_of_another_abi_is_refused_with_the_next_step() {
        NativeIndexException e =
                assertThrows(
                        NativeIndexException.class,
                        () -> KvIndexLibrary.requireAbi(Path.of("/opt/libkvindex.so"), 2));
        assertEquals(
                "/opt/libkvindex.so has ABI 2, this gateway needs "
                        + KvLayout.ABI_VERSION
                        + "; rebuild with `./warmpath native`",
                e.getMessage());
        assertDoesNotThrow(() -> KvIndexLibrary.requireAbi(Path.of("x"), KvLayout.ABI_VERSION));
    }

    @Test
    void an_older_cpu_is_told_what_it_lacks() {
        NativeIndexException e =
                assertThrows(
                        NativeIndexException.class,
                        () ->
                                KvIndexLibrary.requireCpu(
                                        Path.of("/opt/libkvindex.so"), "SSE4.2, POPCNT"));
        assertEquals(
                "this CPU lacks SSE4.2, POPCNT, which /opt/libkvindex.so needs; run it on x86-64-v2"
                        + " or newer (server CPUs since 2009)",
                e.getMessage());
        assertDoesNotThrow(() -> KvIndexLibrary.requireCpu(Path.of("x"), ""));
    }

    @Test
    void a_missing_library_is_named() {
        Path file = folder.resolve("libkvindex.so");
        NativeIndexException e =
                assertThrows(NativeIndexException.class, () -> KvIndexLibrary.bind(file));
        assertEquals(
                "there is no native index at " + file + "; build it with `./warmpath native`",
                e.getMessage());
    }

    @Test
    void a_file_that_is_no_library_is_named() throws IOException {
        Path file = Files.writeString(folder.resolve("libkvindex.so"), "not an ELF file");
        NativeIndexException e =
                assertThrows(NativeIndexException.class, () -> KvIndexLibrary.bind(file));
        assertTrue(
                e.getMessage().startsWith(file + " cannot be loaded on this machine ("),
                e.getMessage());
        assertTrue(e.getMessage().endsWith("rebuild with `./warmpath native`"), e.getMessage());
    }

    @Test
    void the_packaged_library_is_found_and_stays_the_one() {
        Path file = KvIndexLibrary.load(Optional.empty());
        assertTrue(Files.isRegularFile(file), file.toString());
        assertEquals(file, KvIndexLibrary.load(Optional.empty()));
        assertEquals(file, KvIndexLibrary.load(Optional.of(file)), "the same file by name");
        assertEquals(file, KvIndexLibrary.load(Optional.of(file.getParent())), "by its folder");
    }

    @Test
    void a_second_library_in_one_process_is_refused() throws IOException {
        Path first = KvIndexLibrary.load(Optional.empty());
        Path other = Files.copy(first, folder.resolve(first.getFileName().toString()));
        NativeIndexException e =
                assertThrows(
                        NativeIndexException.class,
                        () -> new NativePrefixIndex(Optional.of(folder), 0).close());
        assertEquals(
                "this process already uses " + first + "; restart it to use " + other,
                e.getMessage());
    }

    @Test
    void the_library_loads_from_a_plain_folder_in_a_fresh_process() throws Exception {
        Path packaged = KvIndexLibrary.load(Optional.empty());
        Path platform = Files.createDirectory(folder.resolve(Platform.RESOURCE_PREFIX));
        Path copy = Files.copy(packaged, platform.resolve(packaged.getFileName().toString()));
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "--enable-native-access=ALL-UNNAMED",
                                "-D" + KvIndexLibrary.PATH_PROPERTY + "=" + folder,
                                "-cp",
                                System.getProperty("java.class.path"),
                                Probe.class.getName())
                        .redirectErrorStream(true)
                        .start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertEquals(0, process.waitFor(), output);
        assertTrue(output.contains("loaded " + copy), output);
    }

    /** Main of the fresh process. */
    static final class Probe {
        private Probe() {}

        public static void main(String[] args) {
            try (PrefixIndex index =
                    new NativePrefixIndex(Optional.of(Path.of("/nowhere")), 0)) { // property wins
                index.open(0);
                System.out.println("loaded " + KvIndexLibrary.load(Optional.empty()));
            }
        }
    }
}
