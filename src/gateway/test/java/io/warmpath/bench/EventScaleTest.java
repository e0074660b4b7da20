package io.warmpath.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Both modes for a moment: they run and check themselves; the figures mean nothing here. */
@Tag("slow")
class EventScaleTest {
    @Test
    void sources_in_small() throws Exception {
        SourceLatency.Result r = SourceLatency.measure(5, 40, 1, 1);
        assertEquals(200, r.micros().length);
        assertTrue(r.micros(0) >= 0 && r.micros(0.99) >= r.micros(0.5), r.toString());
        assertTrue(r.feedMicros() > 0 && r.micros(1) < 60_000_000, r.toString());
    }

    @Test
    void a_stream_in_small() throws Exception {
        EventScale.Stream s = EventScale.stream(2, 3);
        assertTrue(s.feedMicros() > 0 && s.socketMicros() > 0, s.toString());
    }

    @Test
    void look_ups_beside_a_snapshot_in_small(@TempDir Path folder) throws Exception {
        EventScale.Beside b = EventScale.beside(100_000, 2, folder);
        assertTrue(b.saveSeconds() > 0 && b.beside()[1] >= b.beside()[0], b.toString());
    }

    @Test
    void recovery_in_small(@TempDir Path folder) throws Exception {
        EventScale.Recovery r = EventScale.recover(100_000, folder);
        assertTrue(r.residencies() >= 100_000, r.toString());
        assertTrue(r.fileBytes() > 0);
    }
}
