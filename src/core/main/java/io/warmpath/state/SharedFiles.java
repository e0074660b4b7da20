package io.warmpath.state;

import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * Files that several gateways share, each written at once and never changed. Any thread but an
 * event loop; calls wait for the store.
 */
public interface SharedFiles {
    void put(String name, byte[] bytes) throws IOException;

    /**
     * @return empty when there is none of this name
     * @throws SnapshotException when the store finds it damaged
     */
    Optional<byte[]> get(String name) throws IOException, SnapshotException;

    List<String> names() throws IOException;

    /** One that is not there is no failure. */
    void remove(String name) throws IOException;
}
