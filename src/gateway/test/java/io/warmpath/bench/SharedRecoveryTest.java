package io.warmpath.bench;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** In small: it runs and checks itself; the figures mean nothing here. */
class SharedRecoveryTest {
    @Test
    void recovery_in_small(@TempDir Path folder) throws Exception {
        SharedRecovery.Recovery r = SharedRecovery.run(500_000, folder);
        assertTrue(r.residencies() >= 500_000, r.toString());
        assertTrue(r.bytes() > 4 << 20, "more than one chunk: " + r);
    }
}
