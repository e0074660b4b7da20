package io.warmpath.events;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * An engine's cache of several kinds, as how often it has the block of a name in each group, and
 * vLLM's search in it, literally: each group looks for its longest hit below the one so far, again
 * and again, until none shortens it.
 */
final class HybridEngine {
    /** Tokens of a block. */
    static final int SIZE = 2;

    /** One group of the engine: full attention, a window in tokens, or states. */
    record Kind(String kind, int window, int stride) {
        int need() {
            return Math.max(1, Math.ceilDiv(window - 1, stride * SIZE));
        }

        boolean full() {
            return kind.endsWith("full_attention");
        }
    }

    static final Kind FULL = new Kind("full_attention", 0, 1);
    static final Kind STATE = new Kind("mamba", 0, 1);

    static Kind window(int tokens) {
        return new Kind("sliding_window", tokens, 1);
    }

    final List<Kind> groups;
    final List<Map<Long, Integer>> copies = new ArrayList<>();
    final Map<List<Integer>, Long> names = new HashMap<>();
    final Random random;

    HybridEngine(List<Kind> groups, Random random) {
        this.groups = groups;
        this.random = random;
        groups.forEach(g -> copies.add(new HashMap<>()));
    }

    long name(int[] prompt, int blocks) {
        List<Integer> prefix = new ArrayList<>();
        Arrays.stream(prompt, 0, blocks * SIZE).forEach(prefix::add);
        return names.computeIfAbsent(prefix, p -> random.nextLong() | 1);
    }

    boolean has(int group, int[] prompt, int blocks) {
        return copies.get(group).containsKey(name(prompt, blocks));
    }

    /** Hit in blocks, as vLLM's coordinator finds it. */
    int hit(int[] prompt) {
        int align = groups.stream().mapToInt(Kind::stride).max().orElseThrow();
        int length = (prompt.length - 1) / SIZE;
        while (true) {
            int now = length;
            for (int g = 0; g < groups.size(); g++) {
                Kind kind = groups.get(g);
                now =
                        kind.full()
                                ? prefix(g, prompt, now, align)
                                : kind.kind.equals("mamba")
                                        ? last(g, prompt, now, align)
                                        : tail(g, kind, prompt, now, align);
            }
            if (now >= length) {
                return length;
            }
            length = now;
        }
    }

    private int prefix(int group, int[] prompt, int most, int align) {
        int n = 0;
        while (n < most && has(group, prompt, n + 1)) {
            n++;
        }
        return n - n % align;
    }

    private int last(int group, int[] prompt, int most, int align) {
        for (int n = most; n > 0; n--) {
            if (n % align == 0 && has(group, prompt, n)) {
                return n;
            }
        }
        return 0;
    }

    /** From the right, blocks of the group; a run begins at an aligned end only. */
    private int tail(int group, Kind kind, int[] prompt, int most, int align) {
        int run = 0;
        for (int i = most / kind.stride - 1; i >= 0; i--) {
            if (has(group, prompt, (i + 1) * kind.stride)) {
                if (run == 0 && (i + 1) * kind.stride % align != 0) {
                    continue;
                }
                run++;
                if (run >= kind.need()) {
                    return (i + run) * kind.stride;
                }
            } else {
                run = 0;
            }
        }
        int n = run * kind.stride;
        return n - n % align;
    }
}
