package io.warmpath.adapter.trtllm;

import io.warmpath.events.BatchDecoder;
import io.warmpath.events.KvBatch;
import io.warmpath.events.KvEvent;
import io.warmpath.events.MalformedBatchException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the events of one rank, a JSON object each, in their order. One thread.
 *
 * <p>It remembers what single events leave out: which window is the whole attention's, where each
 * block lies that is not in device memory, and, of engines with slower memory, the tokens of each
 * block, as an event of a move names a hash only (about 200 bytes a block, beside its tokens). Of
 * {@value #MOST_KEPT} blocks: of older ones a move says only that they have left.
 */
final class EventDecoder implements BatchDecoder {
    static final int MOST_KEPT = 1 << 18;

    private record Name(int group, long hash) {}

    /**
     * @param at which of its blocks
     * @param level where that block lies now
     */
    private record Kept(KvEvent.Stored of, int at, int level) {}

    private final int blockSize;
    private final Map<Name, Kept> kept =
            new LinkedHashMap<>() {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(Map.Entry<Name, Kept> eldest) {
                    return size() > MOST_KEPT;
                }
            };

    /** The largest window, in tokens; 0: none was told. */
    private int widest;

    /** Blocks were told of. */
    private boolean told;

    /** Blocks may lie in slower memory than the device's. */
    private boolean hasLevels;

    /**
     * @param blockSize tokens of a whole block
     */
    EventDecoder(int blockSize) {
        this.blockSize = blockSize;
    }

    @Override
    public KvBatch decode(byte[] json) throws MalformedBatchException {
        EventFields e;
        try {
            e = EventFields.read(json);
        } catch (IOException malformed) {
            throw new MalformedBatchException("not an event: " + malformed.getMessage());
        }
        widest = Math.max(widest, e.window);
        List<KvEvent> events =
                switch (e.type) {
                    case "created" -> {
                        hasLevels |= e.levels > 1;
                        yield List.of();
                    }
                    case "stored" -> stored(e);
                    case "removed" -> removed(e);
                    case "updated" -> moved(e);
                    default -> List.of(new KvEvent.Unknown(e.type));
                };
        told |= !e.type.equals("created");
        return new KvBatch(0, KvBatch.NO_RANK, events, 0, e.unknownFields);
    }

    /**
     * Whether such an event shows that what was taken for the whole attention was a sliding window:
     * the events that the engine begins with, which tell of all windows, were not heard.
     */
    boolean contradicts(int window) {
        return told && widest > 0 && window > widest;
    }

    /** Another process speaks from now on, or nothing said so far can be relied on. */
    void forget() {
        kept.clear();
        widest = 0;
        told = false;
        hasLevels = false;
    }

    /** One event for each run of blocks that have a size and a place in common. */
    private List<KvEvent> stored(EventFields e) {
        List<KvEvent> out = new ArrayList<>(1);
        Long parent = e.parent;
        boolean plain = true;
        int to;
        for (int from = 0; from < e.blocks.size(); from = to) {
            EventFields.Block first = e.blocks.get(from);
            to = from + 1;
            while (to < e.blocks.size() && e.blocks.get(to).goesWith(first)) {
                to++;
            }
            KvEvent.Stored run = stored(e, e.blocks.subList(from, to), parent, plain);
            out.add(run);
            hasLevels |= first.level() > 0;
            if (hasLevels) {
                for (int i = 0; i < run.hashes().length; i++) {
                    kept.put(
                            new Name(run.scope().group(), run.hashes()[i]),
                            new Kept(run, i, first.level()));
                }
            }
            plain = run.plainBlocks() == run.hashes().length;
            parent = run.hashes()[run.hashes().length - 1];
        }
        return out;
    }

    private KvEvent.Stored stored(
            EventFields e, List<EventFields.Block> run, @Nullable Long parent, boolean plain) {
        int size = run.getFirst().tokens().length;
        long[] hashes = new long[run.size()];
        int[] tokens = new int[run.size() * size];
        int plainBlocks = plain ? run.size() : 0;
        for (int i = 0; i < hashes.length; i++) {
            EventFields.Block block = run.get(i);
            hashes[i] = block.hash();
            System.arraycopy(block.tokens(), 0, tokens, i * size, size);
            plainBlocks = block.plain() ? plainBlocks : Math.min(plainBlocks, i);
        }
        return new KvEvent.Stored(
                hashes,
                parent != null,
                parent == null ? 0 : parent,
                tokens,
                false,
                size,
                medium(run.getFirst().level()),
                e.loraName,
                e.numberedLora && e.loraName == null,
                run.getFirst().salt(),
                plainBlocks,
                null,
                // The end of a prompt says nothing of its window's blocks.
                size < blockSize ? KvEvent.Scope.NONE : scope(e));
    }

    /** An event of a removal names no place. */
    private List<KvEvent> removed(EventFields e) {
        KvEvent.Scope scope = scope(e);
        Map<Integer, LongStream.Builder> byLevel = new TreeMap<>();
        for (long hash : e.hashes) {
            Kept block = kept.remove(new Name(scope.group(), hash));
            byLevel.computeIfAbsent(block == null ? 0 : block.level, l -> LongStream.builder())
                    .add(hash);
        }
        List<KvEvent> out = new ArrayList<>(1);
        byLevel.forEach(
                (level, hashes) ->
                        out.add(
                                new KvEvent.Removed(
                                        hashes.build().toArray(), medium(level), scope)));
        return out;
    }

    /** A block that was told of before it was known that there are slower places is let go. */
    private List<KvEvent> moved(EventFields e) throws MalformedBatchException {
        Long hash = e.hash;
        if (hash == null) {
            throw new MalformedBatchException("not an event: a move without block_hash");
        }
        if (e.newLevel == EventFields.ABSENT) {
            return List.of(); // its priority alone
        }
        hasLevels = true;
        KvEvent.Scope scope = scope(e);
        Name name = new Name(scope.group(), hash);
        Kept block = kept.get(name);
        int from = block == null ? Math.max(0, e.oldLevel) : block.level;
        KvEvent.Removed left = new KvEvent.Removed(new long[] {hash}, medium(from), scope);
        if (block == null) {
            return List.of(left);
        }
        if (from == e.newLevel) {
            return List.of();
        }
        KvEvent.Stored there = alone(block, medium(e.newLevel));
        kept.put(name, new Kept(there, 0, e.newLevel));
        return List.of(there, left);
    }

    private static KvEvent.Stored alone(Kept block, String medium) {
        KvEvent.Stored of = block.of;
        int at = block.at;
        int size = of.blockSize();
        return new KvEvent.Stored(
                new long[] {of.hashes()[at]},
                at > 0 || of.hasParent(),
                at > 0 ? of.hashes()[at - 1] : of.parent(),
                Arrays.copyOfRange(of.tokens(), at * size, (at + 1) * size),
                false,
                size,
                medium,
                of.loraName(),
                of.unnamedLora(),
                of.salt(),
                at < of.plainBlocks() ? 1 : 0,
                null,
                of.scope());
    }

    private static String medium(int level) {
        return switch (level) {
            case 0 -> "GPU";
            case 1 -> "CPU";
            case 2 -> "DISK";
            default -> "level " + level;
        };
    }

    /**
     * The widest window is the whole attention's. Groups of windows have numbers in newer releases;
     * before, the window is what tells them apart.
     */
    private KvEvent.Scope scope(EventFields e) {
        if (e.window == EventFields.ABSENT || e.window == 0 || e.window >= Math.max(1, widest)) {
            return KvEvent.Scope.NONE;
        }
        return new KvEvent.Scope(
                e.layerGroup >= 0 ? e.layerGroup : e.window & Integer.MAX_VALUE,
                e.window > 0 ? "sliding_window" : "unknown",
                Math.max(0, e.window),
                null);
    }
}
