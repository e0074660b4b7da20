package io.warmpath.sim.wire;

import io.warmpath.sim.cache.CacheEvent;
import io.warmpath.sim.cache.CacheEvent.Removed;
import io.warmpath.sim.cache.CacheEvent.Stored;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How engines group the changes of one step into events. Pure; any thread. */
final class EventGrouping {
    private EventGrouping() {}

    /** The same changes in the same order, as this engine would send them. */
    static List<CacheEvent> of(WireFormat format, List<CacheEvent> events) {
        return format.sglang() ? coalesced(events) : oneHashPerRemoval(events);
    }

    /** SGLang joins neighbours: stores that continue each other, removals of one medium. */
    private static List<CacheEvent> coalesced(List<CacheEvent> events) {
        List<CacheEvent> out = new ArrayList<>(events.size());
        for (CacheEvent event : events) {
            CacheEvent last = out.isEmpty() ? null : out.getLast();
            CacheEvent joined = last == null ? null : join(last, event);
            if (joined == null) {
                out.add(event);
            } else {
                out.set(out.size() - 1, joined);
            }
        }
        return out;
    }

    private static @Nullable CacheEvent join(CacheEvent a, CacheEvent b) {
        if (a instanceof Removed x && b instanceof Removed y && x.medium() == y.medium()) {
            List<byte[]> digests = new ArrayList<>(x.digests());
            digests.addAll(y.digests());
            return new Removed(x.medium(), digests);
        }
        if (a instanceof Stored x
                && b instanceof Stored y
                && x.medium() == y.medium()
                && x.space().equals(y.space())
                && Objects.equals(x.sessionId(), y.sessionId())
                && Arrays.equals(x.digests().getLast(), y.parent())) {
            List<byte[]> digests = new ArrayList<>(x.digests());
            digests.addAll(y.digests());
            int[] tokens = Arrays.copyOf(x.tokens(), x.tokens().length + y.tokens().length);
            System.arraycopy(y.tokens(), 0, tokens, x.tokens().length, y.tokens().length);
            return new Stored(
                    x.medium(),
                    x.parent(),
                    digests,
                    tokens,
                    x.blockSize(),
                    x.space(),
                    x.sessionId());
        }
        return null;
    }

    private static List<CacheEvent> oneHashPerRemoval(List<CacheEvent> events) {
        List<CacheEvent> out = new ArrayList<>(events.size());
        for (CacheEvent event : events) {
            if (event instanceof Removed r) {
                r.digests().forEach(d -> out.add(new Removed(r.medium(), List.of(d))));
            } else {
                out.add(event);
            }
        }
        return out;
    }
}
