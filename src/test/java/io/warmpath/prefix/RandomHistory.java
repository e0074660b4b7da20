package io.warmpath.prefix;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A seeded, endless history of a small fleet: batches of events, slots that close and open, and
 * queries that are likely to hit something.
 *
 * <p>Few different blocks, so that prompts share prefixes, branch and meet again. Engine hashes
 * chain over the content as real ones do; half of the slots share one hash function. Events repeat,
 * come before their parents, and remove what is not there. Not thread-safe.
 */
public final class RandomHistory {
    private static final int ALPHABET = 3;
    private static final int MAX_DEPTH = 12;
    private static final List<Tier> TIERS = List.of(Tier.values());
    private static final int[] BLOCK_SIZES = {1, 4, 16};
    private static final PrefixSpace[] SPACES = {
        PrefixSpace.NONE, new PrefixSpace("adapter", ""), new PrefixSpace("", "tenant"),
    };

    private final SplittableRandom random;
    private final boolean movingHashes;

    /**
     * @param movingHashes let an engine hash turn up again for other content, as no sane engine
     *     does
     */
    public RandomHistory(long seed, boolean movingHashes) {
        this.random = new SplittableRandom(seed);
        this.movingHashes = movingHashes;
    }

    /** True with a chance of {@code percent}. */
    public boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }

    public int below(int bound) {
        return random.nextInt(bound);
    }

    /** One to eight events of these slots. */
    public List<PrefixEvent> batch(List<WorkerSlot> slots) {
        List<PrefixEvent> events = new ArrayList<>();
        int count = 1 + random.nextInt(8);
        for (int i = 0; i < count; i++) {
            events.add(event(slots.get(random.nextInt(slots.size()))));
        }
        return events;
    }

    private PrefixEvent event(WorkerSlot slot) {
        Prompt prompt = prompt();
        int[] blocks = prompt.blocks();
        Tier tier = TIERS.get(random.nextInt(chance(70) ? 2 : TIERS.size()));
        int from = chance(40) ? 0 : random.nextInt(blocks.length);
        int to = from + 1 + random.nextInt(blocks.length - from);
        int kind = random.nextInt(100);
        if (kind < 1) {
            return new PrefixEvent.Cleared(slot, chance(50) ? tier : null);
        }
        // A twin: the same content under a second name.
        long salt = hashFunction(slot) + (chance(3) ? 1000 : 0);
        if (kind < 40) {
            long[] gone = new long[to - from];
            boolean tailFirst = chance(50);
            for (int i = 0; i < gone.length; i++) {
                gone[i] = prompt.hash(salt, tailFirst ? to - 1 - i : from + i);
            }
            return new PrefixEvent.Removed(slot, tier, gone);
        }
        long[] hashes = new long[to - from];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] =
                    movingHashes && chance(4)
                            ? prompt().hash(salt, 0)
                            : prompt.hash(salt, from + i);
        }
        int size = prompt.blockSize();
        return new PrefixEvent.Stored(
                slot,
                tier,
                from > 0,
                from > 0 ? prompt.hash(salt, from - 1) : 0,
                hashes,
                Arrays.copyOfRange(prompt.tokens(), from * size, to * size),
                size,
                prompt.space());
    }

    private static long hashFunction(WorkerSlot slot) {
        return slot.index() % 2 == 0 ? 1 : 2 + slot.index();
    }

    /** Asks for a prompt that is likely to be held by someone; sometimes cut inside a block. */
    public PrefixQuery query() {
        Prompt prompt = prompt();
        int length = prompt.tokens().length - (chance(30) ? random.nextInt(prompt.blockSize()) : 0);
        return new PrefixQuery(prompt.tokens(), length, prompt.blockSize(), prompt.space());
    }

    private Prompt prompt() {
        int[] blocks = new int[1 + random.nextInt(MAX_DEPTH)];
        for (int i = 0; i < blocks.length; i++) {
            // mostly the same block: prompts share long prefixes
            blocks[i] = chance(75) ? 0 : random.nextInt(ALPHABET);
        }
        int size = chance(70) ? 4 : BLOCK_SIZES[random.nextInt(BLOCK_SIZES.length)];
        PrefixSpace space = chance(80) ? SPACES[0] : SPACES[random.nextInt(SPACES.length)];
        return new Prompt(blocks, size, space);
    }

    private record Prompt(int[] blocks, int blockSize, PrefixSpace space) {
        int[] tokens() {
            int[] tokens = new int[blocks.length * blockSize];
            for (int i = 0; i < tokens.length; i++) {
                tokens[i] = blocks[i / blockSize] * 31 + i % blockSize;
            }
            return tokens;
        }

        /** Chains over everything that makes the content of block {@code i} and those before. */
        long hash(long salt, int i) {
            long hash = salt * 0x9e3779b97f4a7c15L + space.hashCode() * 31L + blockSize;
            for (int k = 0; k <= i; k++) {
                hash = (hash ^ (blocks[k] + 1)) * 0xbf58476d1ce4e5b9L;
                hash ^= hash >>> 29;
            }
            return hash;
        }
    }
}
