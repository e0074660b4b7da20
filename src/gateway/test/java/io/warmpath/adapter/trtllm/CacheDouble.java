package io.warmpath.adapter.trtllm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A cache with the rules of TensorRT-LLM's, kept by token lists, and the events that it would
 * answer: prompts leave their whole blocks and a last one that is not full; of the device's memory
 * what was used longest ago goes to host memory, and from there away.
 *
 * <p>Thread-safe.
 */
public final class CacheDouble {
    private static final class Block {
        final long hash;
        final List<Integer> prefix;
        int level;
        long used;

        Block(long hash, List<Integer> prefix) {
            this.hash = hash;
            this.prefix = prefix;
        }
    }

    private final int blockSize;
    private final int device;
    private final int host;
    private final Random random;
    private final Map<List<Integer>, Block> blocks = new HashMap<>();
    private final List<String> events = new ArrayList<>();
    private final List<String> removed = new ArrayList<>();
    private long nextId;
    private long clock;

    public CacheDouble(int blockSize, int device, int host, Random random) {
        this.blockSize = blockSize;
        this.device = device;
        this.host = host;
        this.random = random;
        restart();
    }

    /** Another process, with nothing in its cache. */
    public synchronized void restart() {
        blocks.clear();
        events.clear();
        removed.clear();
        nextId = 0;
        event(
                "{\"type\":\"created\",\"num_blocks_per_cache_level\":["
                        + device
                        + ","
                        + host
                        + "]}");
    }

    /** What a prompt finds and leaves. */
    public synchronized void run(int[] prompt) {
        clock++;
        Set<List<Integer>> its = new HashSet<>();
        for (int n = blockSize; n <= prompt.length; n += blockSize) {
            its.add(prefix(prompt, n));
        }
        Block parent = null;
        List<Block> made = new ArrayList<>();
        Block before = null;
        for (int at = 0; at < prompt.length; at += blockSize) {
            List<Integer> prefix = prefix(prompt, Math.min(at + blockSize, prompt.length));
            its.add(prefix);
            Block block = blocks.get(prefix);
            if (block == null) {
                if (!room(its)) {
                    break;
                }
                block = new Block(random.nextLong(), prefix);
                blocks.put(prefix, block);
                before = made.isEmpty() ? parent : before;
                made.add(block);
            } else if (block.level == 1) {
                if (!room(its)) {
                    break;
                }
                block.level = 0;
                moved(block, 1, 0);
            }
            block.used = clock;
            parent = block;
        }
        if (!made.isEmpty()) {
            stored(before, made);
        }
    }

    /** A free place in the device's memory; none of {@code kept} is given up for it. */
    private boolean room(Set<List<Integer>> kept) {
        while (blocks.values().stream().filter(b -> b.level == 0).count() >= device) {
            Block victim = oldest(0, kept);
            if (victim == null) {
                return false;
            }
            if (hostUsed() >= host && host > 0) {
                Block gone = oldest(1, kept);
                if (gone != null) {
                    drop(gone);
                }
            }
            if (hostUsed() < host) {
                victim.level = 1;
                moved(victim, 0, 1);
            } else if (children(victim, 1).isEmpty()) {
                drop(victim);
            } else {
                return false;
            }
        }
        return true;
    }

    private long hostUsed() {
        return blocks.values().stream().filter(b -> b.level == 1).count();
    }

    /** Without blocks behind it in its own memory, or anywhere where it would be gone. */
    private @Nullable Block oldest(int level, Set<List<Integer>> kept) {
        return blocks.values().stream()
                .filter(b -> b.level == level && !kept.contains(b.prefix))
                .filter(b -> children(b, 0).isEmpty() && (level == 0 || children(b, 1).isEmpty()))
                .min(Comparator.comparingLong((Block b) -> b.used).thenComparing(b -> b.hash))
                .orElse(null);
    }

    private List<Block> children(Block of, int level) {
        return blocks.values().stream()
                .filter(b -> b.level == level && b != of)
                .filter(b -> of.prefix.size() == (b.prefix.size() - 1) / blockSize * blockSize)
                .filter(b -> b.prefix.subList(0, of.prefix.size()).equals(of.prefix))
                .toList();
    }

    private void drop(Block block) {
        blocks.remove(block.prefix);
        removed.add(Long.toUnsignedString(block.hash));
    }

    private static List<Integer> prefix(int[] prompt, int length) {
        return Arrays.stream(prompt).limit(length).boxed().toList();
    }

    /** Blocks of a prompt's beginning that lie in this level or in a faster one. */
    public synchronized int depth(int[] prompt, int level) {
        int n = 0;
        while ((n + 1) * blockSize <= prompt.length) {
            Block block = blocks.get(prefix(prompt, (n + 1) * blockSize));
            if (block == null || block.level > level) {
                return n;
            }
            n++;
        }
        return n;
    }

    public synchronized long lastId() {
        flush();
        return nextId - 1;
    }

    /** The answer to the question, after which nobody can have it any more. */
    public synchronized String drain() {
        flush();
        String answer = events.stream().collect(Collectors.joining(",", "[", "]"));
        events.clear();
        return answer;
    }

    public synchronized boolean isQuiet() {
        return events.isEmpty() && removed.isEmpty();
    }

    private void stored(@Nullable Block before, List<Block> made) {
        event(
                made.stream()
                        .map(this::json)
                        .collect(
                                Collectors.joining(
                                        ",",
                                        "{\"type\":\"stored\",\"parent_hash\":"
                                                + (before == null
                                                        ? "null"
                                                        : Long.toUnsignedString(before.hash))
                                                + ",\"blocks\":[",
                                        "]}")));
    }

    private String json(Block block) {
        int from = (block.prefix.size() - 1) / blockSize * blockSize;
        return block.prefix.subList(from, block.prefix.size()).stream()
                .map(t -> "{\"type\":\"unique_token\",\"token_id\":" + t + ",\"token_extra_id\":0}")
                .collect(
                        Collectors.joining(
                                ",",
                                "{\"type\":\"stored_block\",\"block_hash\":"
                                        + Long.toUnsignedString(block.hash)
                                        + ",\"tokens\":[",
                                "],\"cache_level\":"
                                        + block.level
                                        + ",\"priority\":35,\"mm_keys\":[],\"cache_salt\":null}"));
    }

    private void moved(Block block, int from, int to) {
        event(
                "{\"type\":\"updated\",\"block_hash\":"
                        + Long.toUnsignedString(block.hash)
                        + ",\"cache_level\":{\"type\":\"event_diff\",\"new_value\":"
                        + to
                        + ",\"old_value\":"
                        + from
                        + "},\"priority\":null}");
    }

    /** Removals that follow each other are one event. */
    private void flush() {
        if (!removed.isEmpty()) {
            String hashes = String.join(",", removed);
            removed.clear();
            event("{\"type\":\"removed\",\"block_hashes\":[" + hashes + "]}");
        }
    }

    private void event(String data) {
        flush();
        events.add("{\"event_id\":" + nextId++ + ",\"data\":" + data + ",\"window_size\":4096}");
    }
}
