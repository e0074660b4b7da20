package io.warmpath.events;

import io.warmpath.fleet.EventWatch;
import io.warmpath.prefix.Tier;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Who wants to hear what an engine stores for a request, which it was sent with a tag ({@code
 * session_id} of SGLang). Any thread.
 */
public final class TaggedBlocks {
    /** Where nobody listens. */
    static final TaggedBlocks NOBODY = new TaggedBlocks();

    /** Those that have waited for the longest make room. */
    private static final int MOST = 256;

    private final Map<String, EventWatch.Stored> listeners = new LinkedHashMap<>();

    /**
     * @param tag no other request has it
     */
    public synchronized void listen(String tag, EventWatch.Stored listener) {
        listeners.put(tag, listener);
        if (listeners.size() > MOST) {
            listeners.remove(listeners.keySet().iterator().next());
        }
    }

    /** Keys that are pairs of tokens overlap: they are left out. */
    void stored(KvEvent.Stored e, Tier tier) {
        String tag = e.sessionId();
        if (tag == null || e.bigram() || tier != Tier.GPU) {
            return;
        }
        EventWatch.Stored listener;
        synchronized (this) {
            listener = listeners.get(tag);
        }
        if (listener != null) {
            long last = e.hashes()[e.hashes().length - 1];
            if (listener.more(e.parent(), last, e.tokens(), e.blockSize())) {
                synchronized (this) {
                    listeners.remove(tag);
                }
            }
        }
    }
}
