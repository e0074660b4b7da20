package io.warmpath.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file of the repository that is made from the code: compared, or written anew. */
public final class RecordedText {
    /** {@code mvn test -Dtest='*DocsTest' -Ddocs.write=true} records what the code says now. */
    public static final boolean WRITES = Boolean.getBoolean("docs.write");

    private RecordedText() {}

    /** Fails where the file says something else, unless it is to be written. */
    public static void same(Path file, String text) throws IOException {
        if (WRITES) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        }
        assertEquals(
                Files.readString(file),
                text,
                file + " is stale; run its test with -Ddocs.write=true and look at the diff");
    }
}
