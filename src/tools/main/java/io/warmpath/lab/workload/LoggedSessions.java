package io.warmpath.lab.workload;

import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds out which recorded request continues which, and makes a workload of them. One thread, used
 * once; O(blocks).
 *
 * <p>A request continues the last one of its session that had ended when it came. Without sessions:
 * the one whose last prompt block it repeats, when that one had ended, was the first with this
 * block, and is not continued already; so requests that share no more than a system prompt stand
 * for themselves.
 *
 * <p>Answers are not in the log. Where one is continued by a prompt that is long enough to repeat
 * it, the blocks behind its own prompt are taken to be its answer's.
 */
final class LoggedSessions {
    private static final int NOBODY = -1;
    private static final double WARM_UP = 0.25;

    private final List<LoggedRequest> requests;
    private final int blockTokens;
    private final int meanAnswer;
    private final boolean closed;
    private final int ids;
    private final int[][] blocks;
    private final int[] continues;

    /**
     * @param ids that blocks are below
     * @param meanAnswer for those whose length is not known
     */
    LoggedSessions(
            List<LoggedRequest> requests,
            int ids,
            int blockTokens,
            int meanAnswer,
            boolean closed) {
        this.requests =
                requests.stream().sorted(Comparator.comparingDouble(r -> r.millis)).toList();
        this.ids = ids;
        this.blockTokens = blockTokens;
        this.meanAnswer = meanAnswer;
        this.closed = closed;
        blocks = new int[requests.size()][];
        continues = new int[requests.size()];
    }

    Recorded recorded(int engines, List<String> notes) {
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = requests.get(i).blocks();
        }
        link();
        WorkloadBuilder to = new WorkloadBuilder(blockTokens);
        to.usesIdsBelow(ids);
        double first = requests.getFirst().millis;
        int[] session = new int[blocks.length];
        for (int i = 0; i < blocks.length; i++) {
            LoggedRequest r = requests.get(i);
            int before = continues[i];
            session[i] = before == NOBODY ? i + 1 : session[before];
            boolean waits = closed && before != NOBODY;
            to.add(
                    session[i],
                    r.millis - first,
                    r.prompt,
                    answer(r),
                    waits ? (int) Math.max(0, r.millis - requests.get(before).endMillis) : 0,
                    waits ? new int[] {before} : new int[0],
                    blocks[i]);
        }
        return new Recorded(to.build(), engines, hitRate(), notes);
    }

    private int answer(LoggedRequest r) {
        return r.output < 0 ? meanAnswer : Math.max(1, r.output);
    }

    private void link() {
        Map<String, Integer> lastOf = new HashMap<>();
        int[] endsWith = new int[ids]; // the request that was first with this block, if last
        Arrays.fill(endsWith, NOBODY);
        boolean[] seen = new boolean[ids];
        boolean[] continued = new boolean[blocks.length];
        int[][] prompts = blocks.clone();
        for (int i = 0; i < blocks.length; i++) {
            LoggedRequest r = requests.get(i);
            Integer named = r.session.isEmpty() ? null : lastOf.get(r.session);
            int before = named == null ? NOBODY : named;
            for (int b = prompts[i].length - 1; r.session.isEmpty() && b >= 0; b--) {
                int candidate = endsWith[prompts[i][b]];
                if (candidate != NOBODY) {
                    before = continued[candidate] ? NOBODY : candidate;
                    break;
                }
            }
            continues[i] = before != NOBODY && isOver(before, r) ? before : NOBODY;
            if (continues[i] != NOBODY) {
                continued[before] = true;
                blocks[before] = withAnswer(requests.get(before), prompts[before], r, prompts[i]);
            }
            if (!r.session.isEmpty()) {
                lastOf.put(r.session, i);
            }
            int n = prompts[i].length;
            if (n > 0 && !seen[prompts[i][n - 1]]) {
                endsWith[prompts[i][n - 1]] = i;
            }
            for (int id : prompts[i]) {
                seen[id] = true;
            }
        }
    }

    private boolean isOver(int before, LoggedRequest next) {
        return requests.get(before).endMillis <= next.millis;
    }

    private int[] withAnswer(LoggedRequest r, int[] own, LoggedRequest next, int[] after) {
        long tokens = (long) r.prompt + answer(r);
        boolean repeats =
                next.prompt >= tokens
                        && after.length >= own.length
                        && Arrays.mismatch(own, 0, own.length, after, 0, own.length) < 0;
        return repeats
                ? Arrays.copyOf(after, (int) Math.min(after.length, tokens / blockTokens))
                : own;
    }

    private double hitRate() {
        double first = requests.getFirst().millis;
        double from = first + WARM_UP * (requests.getLast().millis - first);
        double prompts = 0;
        double hits = 0;
        for (LoggedRequest r : requests) {
            if (r.cached >= 0 && r.millis >= from) {
                prompts += r.prompt;
                hits += r.cached;
            }
        }
        return prompts == 0 ? Double.NaN : hits / prompts;
    }
}
