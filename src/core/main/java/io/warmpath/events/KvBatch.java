package io.warmpath.events;

import java.util.List;

/**
 * One message of an engine's event stream, decoded.
 *
 * @param timestamp seconds, by the engine's clock
 * @param rank data-parallel rank inside the payload, {@link #NO_RANK} when absent
 * @param events those that could be read, in order
 * @param badEvents events that were skipped because their content made no sense
 * @param unknownFields fields skipped because this version does not know them
 */
public record KvBatch(
        double timestamp, int rank, List<KvEvent> events, int badEvents, int unknownFields) {
    public static final int NO_RANK = -1;

    public KvBatch {
        events = List.copyOf(events);
    }
}
