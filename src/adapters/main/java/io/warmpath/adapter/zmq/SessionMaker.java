package io.warmpath.adapter.zmq;

import io.warmpath.events.EventSource;
import io.warmpath.events.SourceSession;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Makes the session of a source: where its batches go. */
@FunctionalInterface
interface SessionMaker {
    SourceSession make(
            EventSource source,
            SourceSession.@Nullable ReplayLink replay,
            SourceSession.Listener listener,
            SourceSession.Timing timing,
            LongSupplier nanoTime);
}
