package io.warmpath.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class SnapshotManifestTest {
    private static final int VERSION_AT = Long.BYTES;
    private static final int OLDEST_READER_AT = VERSION_AT + Integer.BYTES;
    private static final int FIELDS_AT = OLDEST_READER_AT + Integer.BYTES;
    private static final int FIRST_FIELD_AT = FIELDS_AT + Integer.BYTES;

    private final SnapshotManifest manifest =
            new SnapshotManifest(1L << 40, 7, 25, -5, 10, List.of(1, -2, 3));

    /** As a gateway of the next version would write it: with a field of its own before ours. */
    private byte[] ofNextVersion(int oldestReader) {
        byte[] ours = manifest.write();
        ByteBuffer out = ByteBuffer.allocate(ours.length + 11);
        out.put(ours, 0, VERSION_AT).putInt(SnapshotManifest.VERSION + 1).putInt(oldestReader);
        out.putInt(3).putInt(99).putInt(3).put(new byte[] {1, 2, 3});
        out.put(ours, FIRST_FIELD_AT, ours.length - FIRST_FIELD_AT - Integer.BYTES);
        CRC32C crc = new CRC32C();
        crc.update(out.array(), 0, out.position());
        return out.putInt((int) crc.getValue()).array();
    }

    @Test
    void it_comes_back_as_it_was() throws SnapshotException {
        assertEquals(manifest, SnapshotManifest.read(manifest.write()));
        assertEquals(10, manifest.sizeOf(1));
        assertEquals(5, manifest.sizeOf(2));
    }

    @Test
    void after_a_downgrade_the_next_versions_is_read_if_it_only_added() throws SnapshotException {
        assertEquals(manifest, SnapshotManifest.read(ofNextVersion(SnapshotManifest.VERSION)));
        SnapshotException e =
                assertThrows(
                        SnapshotException.class,
                        () -> SnapshotManifest.read(ofNextVersion(SnapshotManifest.VERSION + 1)));
        assertTrue(e.getMessage().contains("needs a gateway that reads version 2"), e.getMessage());
    }

    @Test
    void sizes_that_do_not_fit_are_refused_though_the_checksum_does() {
        for (SnapshotManifest m :
                List.of(
                        new SnapshotManifest(1, 26, 25, 0, 10, List.of(1, 2, 3)),
                        new SnapshotManifest(1, 7, 25, 0, 0, List.of(1, 2, 3)),
                        new SnapshotManifest(1, 7, 31, 0, 10, List.of(1, 2, 3)),
                        new SnapshotManifest(1, -1, 25, 0, 10, List.of(1, 2, 3)))) {
            assertThrows(SnapshotException.class, () -> SnapshotManifest.read(m.write()));
        }
    }
}
