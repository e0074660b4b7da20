package io.warmpath.state;

import java.io.IOException;
import java.util.Optional;

/**
 * Small named values that several gateways share, each changed by compare and set. Any thread but
 * an event loop; calls wait for the store.
 */
public interface SharedKeys {
    /** A revision that no value has: expected where there must not be one. */
    long ABSENT = 0;

    /** What {@link #put} answers when another has written meanwhile. */
    long REFUSED = -1;

    /**
     * @param revision of this write; every write of any key has a higher one than those before
     */
    record Entry(byte[] value, long revision) {}

    Optional<Entry> get(String key) throws IOException;

    /**
     * Writes only if the value still has this revision; its new revision, or {@link #REFUSED}.
     *
     * @throws IOException when the store cannot be asked; the write may have been done
     */
    long put(String key, byte[] value, long expected) throws IOException;
}
