package io.warmpath.prefix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class PrefixMatchTest {
    private static PrefixMatch match(Map<Integer, int[]> depths) {
        return new PrefixMatch(
                16,
                9,
                depths.keySet().stream().mapToInt(i -> i).toArray(),
                depths.values().stream().flatMapToInt(java.util.Arrays::stream).toArray());
    }

    @Test
    void the_larger_of_two_answers_is_the_larger_of_each_depth() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            Map<Integer, int[]> a = random(random);
            Map<Integer, int[]> b = random(random);
            PrefixMatch merged = PrefixMatch.larger(match(a), match(b));
            Map<Integer, int[]> all = new TreeMap<>(a);
            all.putAll(b);
            assertEquals(all.size(), merged.size(), "seed " + seed);
            int place = 0;
            for (Map.Entry<Integer, int[]> e : all.entrySet()) {
                assertEquals(e.getKey(), merged.slotAt(place), "seed " + seed);
                for (Tier tier : Tier.values()) {
                    int expected =
                            Math.max(
                                    a.getOrDefault(e.getKey(), new int[4])[tier.number()],
                                    b.getOrDefault(e.getKey(), new int[4])[tier.number()]);
                    assertEquals(expected, merged.depthAt(place, tier), "seed " + seed);
                }
                place++;
            }
        }
    }

    @Test
    void answers_about_several_prompts_add_up_to_what_can_be_used_of_each() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            List<Map<Integer, int[]>> prompts = new ArrayList<>();
            List<List<PrefixMatch>> answers = new ArrayList<>();
            int[] tokens = new int[1 + random.nextInt(4)];
            for (int i = 0; i < tokens.length; i++) {
                tokens[i] = random.nextInt(9 * 16 + 1);
                prompts.add(random(random));
                answers.add(List.of(match(prompts.get(i))));
            }
            PrefixMatch sum = PrefixMatch.together(answers, tokens).getFirst();
            for (int slot = 0; slot < 64; slot++) {
                for (Tier tier : Tier.values()) {
                    int expected = 0;
                    for (int i = 0; i < tokens.length; i++) {
                        int held = prompts.get(i).getOrDefault(slot, new int[4])[tier.number()];
                        expected += Math.min(held, Math.max(0, tokens[i] - 1) / 16);
                    }
                    assertEquals(expected, sum.depth(new WorkerSlot(slot), tier), "seed " + seed);
                }
            }
        }
        PrefixMatch one = match(new TreeMap<>(Map.of(1, new int[] {1, 1, 1, 1})));
        assertEquals(
                List.of(),
                PrefixMatch.together(List.of(List.of(one), List.of()), new int[] {40, 40}),
                "what is not known of one is not known of all");
    }

    @Test
    void answers_about_two_prompts_stand_beside_each_other_each_for_its_own_slots() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            Map<Integer, int[]> a = random(random);
            Map<Integer, int[]> b = random(random);
            PrefixMatch both =
                    PrefixMatch.beside(
                            match(a).only(slot -> slot % 2 == 0),
                            match(b).only(slot -> slot % 2 == 1));
            a.keySet().removeIf(slot -> slot % 2 == 1);
            b.keySet().removeIf(slot -> slot % 2 == 0);
            assertEquals(a.size() + b.size(), both.size(), "seed " + seed);
            b.putAll(a);
            int place = 0;
            for (Map.Entry<Integer, int[]> e : new TreeMap<>(b).entrySet()) {
                assertEquals(e.getKey(), both.slotAt(place), "seed " + seed);
                for (Tier tier : Tier.values()) {
                    assertEquals(
                            e.getValue()[tier.number()], both.depthAt(place, tier), "seed " + seed);
                }
                place++;
            }
        }
        PrefixMatch longer = PrefixMatch.none(16, 12);
        assertEquals(12, PrefixMatch.beside(match(Map.of()), longer).blocks());
    }

    private static Map<Integer, int[]> random(Random random) {
        Map<Integer, int[]> depths = new TreeMap<>();
        for (int i = random.nextInt(6); i > 0; i--) {
            int[] cumulative = new int[Tier.COUNT];
            int depth = 0;
            for (int t = 0; t < Tier.COUNT; t++) {
                depth += random.nextInt(3);
                cumulative[t] = depth;
            }
            depths.put(random.nextInt(8), cumulative);
        }
        return depths;
    }

    @Test
    void nothing_is_copied_for_nothing() {
        PrefixMatch plain = match(new TreeMap<>(Map.of(1, new int[] {1, 1, 1, 1})));
        assertSame(plain, PrefixMatch.larger(plain, PrefixMatch.none(16, 9)));
    }

    @Test
    void answers_about_different_blocks_are_not_compared() {
        PrefixMatch a = PrefixMatch.none(16, 9);
        assertThrows(
                IllegalArgumentException.class,
                () -> PrefixMatch.larger(a, PrefixMatch.none(32, 9)));
        assertThrows(
                IllegalArgumentException.class,
                () -> PrefixMatch.larger(a, PrefixMatch.none(16, 8)));
    }
}
