package io.warmpath.lab.workload;

import java.util.List;

/** Draws one conversation: requests one after the other, each with all that was said before. */
final class Chain {
    /** New tokens of a request, tokens of its answer, pause before it. */
    record Turn(int in, int out, int pauseMillis) {}

    /**
     * @param request the last one's number
     * @param own first id of what the conversation itself has said
     * @param tokens with the last answer
     */
    record End(int request, int own, int tokens) {}

    private Chain() {}

    /**
     * @param prefix what all begin with, complete blocks
     * @param after requests that the first turn waits for
     */
    static End add(
            WorkloadBuilder to,
            Segments prefix,
            List<Turn> turns,
            double startMillis,
            int session,
            int[] after) {
        int block = to.blockTokens();
        int total = prefix.tokens();
        for (Turn t : turns) {
            total += t.in() + t.out();
        }
        int own = to.newIds(total / block - prefix.tokens() / block + 1);
        int tokens = prefix.tokens();
        int last = -1;
        for (Turn t : turns) {
            tokens += t.in();
            last =
                    to.add(
                            session,
                            startMillis,
                            tokens,
                            t.out(),
                            t.pauseMillis(),
                            last < 0 ? after : new int[] {last},
                            prefix.ids((tokens + t.out()) / block, own));
            tokens += t.out();
        }
        return new End(last, own, tokens);
    }
}
