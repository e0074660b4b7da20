package io.warmpath.prefix;

import java.nio.file.Path;
import java.util.List;

/** An index that can be written to a file and taken up from it again. */
public interface IndexSnapshots {
    /** Whose slot it is, in the caller's words. {@code worker}: id of the worker, as u64. */
    record Label(WorkerSlot slot, long worker, int rank) {}

    /**
     * What came of a save or a load.
     *
     * @param slots those in the file that are labelled; of a load only
     * @param key the caller's, as it was saved
     * @param bytes of the file
     * @param dropped runs that came or went while it was saved, and are not in the index; of a load
     *     only
     * @param longestHoldNanos that a writer may have had to wait, at most; of a save only
     */
    record Taken(List<Label> slots, long key, long bytes, long dropped, long longestHoldNanos) {
        public Taken {
            slots = List.copyOf(slots);
        }
    }

    /** The file is refused, or cannot be read or written; the message says why. */
    final class SnapshotException extends Exception {
        private static final long serialVersionUID = 1;

        public SnapshotException(String message) {
            super(message);
        }
    }

    /**
     * Writes everything that is held; under its name only when it is whole and on disk. Any thread
     * but an event loop, one at a time; look-ups are not disturbed, writers wait for slices of some
     * 200 µs. O(index).
     *
     * @param key stays with the file
     */
    Taken save(Path file, List<Label> labels, long key) throws SnapshotException;

    /**
     * Takes up a file, in an index that never had a slot; nothing else may be called meanwhile.
     * After a refusal the index is as it was. O(file).
     */
    Taken load(Path file) throws SnapshotException;
}
