package io.warmpath.fleet.source;

import io.warmpath.fleet.WorkerSpec;
import java.util.Map;

/**
 * Somebody who knows of workers and tells as they come and go: a file, a registry, an orchestrator.
 * {@link #start} and {@link #close} once each. What a source that is closed has told stays: a
 * gateway that ends takes no worker away.
 */
public interface FleetSource extends AutoCloseable {
    /** Short and stable; shown in {@code GET /workers}. */
    SourceName name();

    /** Begins to tell; returns soon. What is not there yet is tried again by the source. */
    void start(Feed feed);

    /** It hears of changes now; while it does not, the workers that it has told of stay. */
    default boolean connected() {
        return true;
    }

    @Override
    void close();

    /**
     * Where one source tells. A key is the source's own name of one worker (a pod, a line of a
     * file); which worker it is, the URL says. Any thread but an event loop: listeners of the fleet
     * run inside. Nothing is thrown for what a source may tell; what cannot be taken (a name that
     * another worker has) is left out, logged once and listed by {@link FleetSources#problems}.
     */
    interface Feed {
        /**
         * There is this worker, with this record, and it takes requests. Said again with the same
         * record nothing happens; with another one the worker is changed in place, and asked anew.
         */
        void put(String key, WorkerSpec spec);

        /**
         * It is about to leave: no new requests, running ones finish, sessions move. It stays so
         * until {@link #put} or {@link #remove}, whatever other sources say.
         *
         * @param why for the log and the operator
         */
        void drain(String key, String why);

        /**
         * It takes no new requests for now, and is the same when it comes back: it stays, with what
         * is known of its cache, until {@link #put}, {@link #drain} or {@link #remove}.
         *
         * @param why for the log and the operator
         */
        void hold(String key, String why);

        /** It has left: drained, then forgotten, unless another source names it, too. */
        void remove(String key);

        /** All workers of this source, at once: those that are not among them have left. */
        void replace(Map<String, WorkerSpec> all);
    }
}
