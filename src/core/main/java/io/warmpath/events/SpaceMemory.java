package io.warmpath.events;

import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which blocks of one slot lie in a space of their own (adapter or salt). One thread.
 *
 * <p>vLLM names the salt in the first block of a prompt only, so a later block learns it from its
 * parent. Blocks of the common space take no room here.
 */
final class SpaceMemory {
    private static final class Entry {
        final PrefixSpace space;
        int tiers;

        Entry(PrefixSpace space) {
            this.space = space;
        }
    }

    private final Map<Long, Entry> entries = new HashMap<>();

    /**
     * What the event says; the salt of its parent where it says none. Each event names its adapter:
     * a parent with another one is a block that the engine takes for two things.
     */
    PrefixSpace resolve(KvEvent.Stored event) {
        String lora = orEmpty(event.loraName());
        String salt = orEmpty(event.salt());
        Entry parent = event.hasParent() && salt.isEmpty() ? entries.get(event.parent()) : null;
        if (parent != null) {
            salt = parent.space.salt();
        }
        return lora.isEmpty() && salt.isEmpty() ? PrefixSpace.NONE : new PrefixSpace(lora, salt);
    }

    void stored(long[] hashes, Tier tier, PrefixSpace space) {
        if (space.equals(PrefixSpace.NONE)) {
            return;
        }
        for (long hash : hashes) {
            Entry entry = entries.get(hash);
            if (entry == null || !entry.space.equals(space)) {
                entry = new Entry(space);
                entries.put(hash, entry);
            }
            entry.tiers |= 1 << tier.number();
        }
    }

    void removed(long[] hashes, Tier tier) {
        if (entries.isEmpty()) {
            return;
        }
        for (long hash : hashes) {
            Entry entry = entries.get(hash);
            if (entry != null) {
                entry.tiers &= ~(1 << tier.number());
                if (entry.tiers == 0) {
                    entries.remove(hash);
                }
            }
        }
    }

    /** For a file. */
    List<SourceMark.Spaced> blocks() {
        return entries.entrySet().stream()
                .map(
                        e ->
                                new SourceMark.Spaced(
                                        e.getKey(),
                                        e.getValue().tiers,
                                        e.getValue().space.lora(),
                                        e.getValue().space.salt()))
                .toList();
    }

    /** From a file. */
    void restore(List<SourceMark.Spaced> blocks) {
        for (SourceMark.Spaced b : blocks) {
            Entry entry = new Entry(new PrefixSpace(b.lora(), b.salt()));
            entry.tiers = b.tiers();
            entries.put(b.hash(), entry);
        }
    }

    void clear() {
        entries.clear();
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }
}
