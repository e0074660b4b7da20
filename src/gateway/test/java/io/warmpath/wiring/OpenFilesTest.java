package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.logging.Level;
import org.junit.jupiter.api.Test;

/** What the limit of open files is enough for; {@link FileLimitTest} runs into it. */
class OpenFilesTest {
    @Test
    void clients_get_half_of_what_the_process_leaves() {
        assertEquals((1024 - 220 - 64) / 2, new OpenFiles(1024, 220).clients(0));
        assertEquals((65536 - 220 - 4096) / 2, new OpenFiles(65536, 220).clients(0));
        assertEquals((256 - 200 - 32) / 2, new OpenFiles(256, 200).clients(0));
        assertEquals(1, new OpenFiles(256, 300).clients(0));
        assertEquals(Integer.MAX_VALUE, new OpenFiles(Long.MAX_VALUE, 0).clients(0));
    }

    @Test
    void a_bound_of_the_operators_own_counts_and_is_spoken_of_where_it_cannot_hold() {
        Logs logs = new Logs(OpenFiles.class);
        try {
            assertEquals(300, new OpenFiles(1024, 220).clients(300));
            assertEquals(List.of(), logs.at(Level.WARNING));
            assertEquals(500, new OpenFiles(1024, 220).clients(500));
            List<String> said = logs.at(Level.WARNING);
            assertEquals(1, said.size(), said::toString);
            assertTrue(said.getFirst().contains("1024 files") && said.getFirst().contains("370"));
        } finally {
            logs.close();
        }
    }

    @Test
    void a_limit_that_leaves_room_for_a_few_clients_only_is_spoken_of() {
        Logs logs = new Logs(OpenFiles.class);
        try {
            new OpenFiles(1024, 220).clients(0);
            assertEquals(List.of(), logs.at(Level.WARNING));
            new OpenFiles(256, 220).clients(0);
            assertEquals(1, logs.at(Level.WARNING).size());
        } finally {
            logs.close();
        }
    }

    @Test
    void with_fewer_files_than_a_start_needs_there_is_a_sentence_that_says_so() {
        assertTrue(new OpenFiles(256, 30).tooFew().isEmpty());
        String why = new OpenFiles(255, 30).tooFew().orElseThrow();
        assertTrue(why.contains("255 files") && why.contains("ulimit -n"), why);
    }
}
