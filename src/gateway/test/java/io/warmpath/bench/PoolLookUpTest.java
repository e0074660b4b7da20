package io.warmpath.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A few look-ups: they run and check themselves; the times mean nothing here. */
class PoolLookUpTest {
    @Test
    void look_ups_in_small(@TempDir Path logs) {
        List<PoolLookUp.Figure> figures = new ArrayList<>();
        PoolLookUp.run(4, new int[] {8192}, logs, figures::add);
        assertEquals(2 * 3 * PoolLookUp.Way.values().length, figures.size());
        for (PoolLookUp.Figure figure : figures) {
            assertTrue(figure.p50Nanos() > 0, figure.toString());
            switch (figure.way()) {
                case CACHED -> assertEquals(0, figure.keysAsked(), figure.toString());
                case ALL -> assertEquals(128 * 2 * figure.tp(), figure.keysAsked());
                case SEARCH -> assertTrue(figure.keysAsked() < 300, figure.toString());
            }
        }
    }
}
