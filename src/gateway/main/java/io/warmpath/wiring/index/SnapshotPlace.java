package io.warmpath.wiring.index;

import io.warmpath.events.SourceMark;
import io.warmpath.prefix.IndexSnapshots;
import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Where snapshots lie, and when one is written there. One thread. */
public interface SnapshotPlace extends AutoCloseable {
    /**
     * What a start goes on with.
     *
     * @param inWords which snapshot it is
     * @param slots open in the index now, by whose they are
     * @param position stream sequence up to which everything is in it; 0 where there is no stream
     */
    record TakenUp(
            String inWords, List<Label> slots, List<SourceMark> marks, long bytes, long position) {
        public TakenUp {
            slots = List.copyOf(slots);
            marks = List.copyOf(marks);
        }
    }

    /**
     * What is known now, beside the index, and was before whatever the index holds.
     *
     * @param heard marks of sources that are heard
     * @param pending marks of sources from a snapshot that have not been joined yet
     * @param position stream sequence up to which all is applied; 0 where there is no stream
     * @param fleetVersion another one after every change of the fleet
     */
    record View(
            List<SourceMark> heard,
            List<SourceMark> pending,
            List<Label> labels,
            long position,
            long fleetVersion) {
        List<SourceMark> marks() {
            return Stream.concat(heard.stream(), pending.stream()).toList();
        }
    }

    /**
     * Takes up what is there, once, before anything else.
     *
     * @param refused told of each snapshot that was not taken, and why
     * @throws IOException when it cannot be asked: nothing is known of what is there
     */
    Optional<TakenUp> load(IndexSnapshots index, Consumer<String> refused) throws IOException;

    /** Time between two calls of {@link #look}. */
    Duration every();

    /**
     * Writes a snapshot if one is due.
     *
     * @param last this process ends
     * @return bytes written, 0 for none
     */
    long look(IndexSnapshots index, Supplier<View> view, boolean last)
            throws IOException, SnapshotException;

    /**
     * Something small of this gateway alone that lies beside the snapshots.
     *
     * @throws IOException when it cannot be asked
     */
    Optional<byte[]> beside(String name) throws IOException;

    /** Writes it: whole, or not at all. */
    void keepBeside(String name, byte[] bytes) throws IOException;

    /** What is there, for messages. */
    @Override
    String toString();

    @Override
    void close() throws IOException;
}
