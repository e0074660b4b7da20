package io.warmpath.capture;

import io.warmpath.adapter.zmq.EventMessages;
import io.warmpath.events.SourceSession;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Stands in for the engine's replay socket. The recording asked it once, at its end; a request made
 * earlier in the replay gets of that answer what had been published by then. One thread.
 */
final class History {
    private final Map<Integer, List<EventMessages.Message>> recorded = new HashMap<>();
    private final Map<Integer, Long> newest = new HashMap<>();

    History(Capture capture) {
        for (Capture.Line line : capture.lines()) {
            if (line instanceof Capture.History h) {
                List<EventMessages.Message> batches = new ArrayList<>();
                for (List<byte[]> reply : h.replies()) {
                    EventMessages.replay(reply).filter(m -> !m.end()).ifPresent(batches::add);
                }
                recorded.putIfAbsent(h.source(), batches);
            } else if (line instanceof Capture.Event e) {
                // What came before the first recorded message had been published at the start.
                EventMessages.live(e.frames())
                        .ifPresent(m -> newest.putIfAbsent(e.source(), m.sequence() - 1));
            }
        }
    }

    boolean has(int source) {
        return recorded.containsKey(source);
    }

    void published(int source, long sequence) {
        newest.merge(source, sequence, Math::max);
    }

    void answer(int source, long from, SourceSession session) {
        long limit = newest.getOrDefault(source, -1L);
        for (EventMessages.Message m : recorded.getOrDefault(source, List.of())) {
            if (m.sequence() >= from && m.sequence() <= limit) {
                session.replayed(m.sequence(), m.payload());
            }
        }
        session.replayEnded();
    }

    /** A link that notes the request; it is answered when the session has finished its step. */
    static final class Link implements SourceSession.ReplayLink {
        private OptionalLong asked = OptionalLong.empty();

        @Override
        public void request(long fromSequence) {
            asked = OptionalLong.of(fromSequence);
        }

        OptionalLong take() {
            OptionalLong was = asked;
            asked = OptionalLong.empty();
            return was;
        }
    }
}
