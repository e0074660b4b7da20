package io.warmpath.lab.workload;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Questions with retrieved passages: instructions that all have, then the best passages of the
 * question's topic, best first, then the question. Two questions share what they have in the same
 * order from the beginning; most topics are asked about a few times only.
 *
 * @param requests how many; one a second at rate 1
 * @param topics the i-th with weight 1 / i^0.8
 * @param passages of a prompt
 * @param passageTokens mean length of one
 * @param swap chance that a passage has changed places with the next
 */
public record RagShape(int requests, int topics, int passages, int passageTokens, double swap) {
    private static final int BLOCK = 64;
    private static final int INSTRUCTIONS = 1024;
    private static final int QUESTION = 120;
    private static final int OUTPUT = 250;

    /** Passages that a topic has, of which a question gets the first. */
    private static final int KNOWN = 12;

    /** A passage behind certain others. */
    private record Place(int before, int passage) {}

    public Workload draw(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        Draws.Zipf which = new Draws.Zipf(topics, 0.8);
        int[] lengths = new int[topics * KNOWN];
        for (int i = 0; i < lengths.length; i++) {
            lengths[i] = ChatShape.blocks(d.length(passageTokens, 0.4, BLOCK, 4000));
        }
        Segments instructions =
                Segments.EMPTY.plus(to.newIds(INSTRUCTIONS / BLOCK), INSTRUCTIONS / BLOCK, BLOCK);
        Map<Place, Integer> ids = new HashMap<>();
        double t = 0;
        for (int r = 0; r < requests; r++) {
            t += d.exponential(1000);
            int topic = which.draw(d.random);
            Segments prompt = instructions;
            int before = -1;
            for (int passage : ranked(d)) {
                int blocks = lengths[topic * KNOWN + passage];
                Place place = new Place(before, topic * KNOWN + passage);
                before = ids.computeIfAbsent(place, p -> to.newIds(blocks));
                prompt = prompt.plus(before, blocks, BLOCK);
            }
            int tokens = prompt.tokens() + d.length(QUESTION, 0.6, 8, 2000);
            int out = d.length(OUTPUT, 0.6, 8, 2000);
            int blocks = (tokens + out) / BLOCK;
            int own = to.newIds(blocks - prompt.tokens() / BLOCK);
            to.add(topic + 1, t, tokens, out, 0, new int[0], prompt.ids(blocks, own));
        }
        return to.build();
    }

    private List<Integer> ranked(Draws d) {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < KNOWN; i++) {
            order.add(i);
        }
        for (int i = 0; i + 1 < KNOWN; i++) {
            if (d.random.nextDouble() < swap) {
                java.util.Collections.swap(order, i, i + 1);
            }
        }
        return order.subList(0, passages);
    }
}
