package io.warmpath.lab.workload;

import java.util.HashMap;
import java.util.Map;

/**
 * Single questions behind shared prefixes: documents, one system prompt for all, bursts, or nothing
 * shared at all.
 *
 * @param requests how many; one a second at rate 1, or a burst every {@code burst} seconds
 * @param hotTokens what all prompts begin with; 0: nothing
 * @param groups different prefixes behind that, the i-th with weight 1 / i^zipf
 * @param prefixTokens mean length of one; 0: there are none
 * @param prefixVariation of these lengths
 * @param share part of the requests that use a shared prefix; the others' is their own
 * @param questionTokens mean of what is each request's own
 * @param questionVariation of these lengths
 * @param outputTokens mean of an answer
 * @param outputVariation of these lengths
 * @param burst requests that come together, those that share have the same prefix; 0: no bursts
 * @param burstMillis within which they come
 */
public record GroupShape(
        int requests,
        int hotTokens,
        int groups,
        double zipf,
        int prefixTokens,
        double prefixVariation,
        double share,
        int questionTokens,
        double questionVariation,
        int outputTokens,
        double outputVariation,
        int burst,
        double burstMillis) {
    private static final int BLOCK = 64;

    public Workload draw(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        Draws.Zipf which = new Draws.Zipf(groups, zipf);
        Segments hot = Segments.EMPTY;
        if (hotTokens > 0) {
            int blocks = ChatShape.blocks(hotTokens);
            hot = hot.plus(to.newIds(blocks), blocks, BLOCK);
        }
        Map<Integer, Segments> prefixes = new HashMap<>();
        double t = 0;
        while (to.size() < requests) {
            int together = Math.max(1, burst);
            t += d.exponential(1000) * together;
            int common = which.draw(d.random);
            for (int j = 0; j < together; j++) {
                boolean shares = prefixTokens > 0 && d.random.nextDouble() < share;
                int group = burst > 0 ? common : which.draw(d.random);
                Segments prefix = hot;
                if (shares) {
                    Segments known = prefixes.get(group);
                    if (known == null) {
                        known = prefix(d, to, hot);
                        prefixes.put(group, known);
                    }
                    prefix = known;
                } else if (prefixTokens > 0) {
                    prefix = prefix(d, to, hot);
                }
                int question = d.length(questionTokens, questionVariation, 1, 60_000);
                int out = d.length(outputTokens, outputVariation, 1, 4000);
                int tokens = prefix.tokens() + question;
                int blocks = (tokens + out) / BLOCK;
                int own = to.newIds(Math.max(0, blocks - prefix.tokens() / BLOCK));
                double at = t + (burst > 0 ? d.random.nextDouble() * burstMillis : 0);
                int session = shares ? group + 1 : 1_000_000 + to.size();
                to.add(session, at, tokens, out, 0, new int[0], prefix.ids(blocks, own));
            }
        }
        return to.build();
    }

    private Segments prefix(Draws d, WorkloadBuilder to, Segments behind) {
        int blocks = ChatShape.blocks(d.length(prefixTokens, prefixVariation, BLOCK, 120_000));
        return behind.plus(to.newIds(blocks), blocks, BLOCK);
    }
}
