package io.warmpath.pool;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * Do our keys mean what the engines wrote? Prompts that workers have surely stored are remembered;
 * the pool is asked for them now and then; where it knows none of them, the recipe is wrong. Any
 * thread. Keeps the first pages of the newest {@code prompts} prompts, a few kilobytes.
 */
public final class RecipeCheck {
    /** Pages of a prompt that are kept: the first ones, which most others share. */
    private static final int PAGES = 4;

    /** What came out. */
    public sealed interface Verdict {
        /** No worker has stored anything that we know of. */
        record NothingToAsk() implements Verdict {}

        /** The recipe fits. Fewer found than asked: the pool has evicted some. */
        record Fits(int asked, int found) implements Verdict {}

        /**
         * Nothing was found.
         *
         * @param recipe that was tried
         * @param tried one of the keys
         * @param seen a key that is there; empty when the pool has none at all
         */
        record Nothing(int asked, String recipe, String tried, String seen) implements Verdict {
            /** Whether the pool has other things: then it is not just empty. */
            public boolean wrongRecipe() {
                return !seen.isEmpty();
            }

            /** For a person. */
            public String message() {
                return "none of "
                        + asked
                        + " pages that workers have stored is in the pool under "
                        + tried
                        + " (recipe: "
                        + recipe
                        + (seen.isEmpty()
                                ? "); the pool holds no key at all"
                                : "); the pool holds keys such as "
                                        + seen
                                        + ": compare prefix, hash and suffix, and correct the"
                                        + " workers' metadata");
            }
        }
    }

    private final int pageSize;
    private final int prompts;
    private final Deque<PoolQuestion> newest = new ArrayDeque<>(); // guarded by this

    /** {@code pageSize}: of the pool. {@code prompts}: most that are kept. */
    public RecipeCheck(int pageSize, int prompts) {
        if (pageSize < 1 || prompts < 1) {
            throw new IllegalArgumentException("page size " + pageSize + ", prompts " + prompts);
        }
        this.pageSize = pageSize;
        this.prompts = prompts;
    }

    /** A worker has computed this prompt and written its pages through. O(a few pages). */
    public void stored(PoolQuestion question) {
        // One token more than the pages, for the last bigram.
        int keep = Math.min(question.length(), PAGES * pageSize + 1);
        if (keep < pageSize) {
            return;
        }
        int[] start = Arrays.copyOf(question.tokens(), keep);
        PoolQuestion kept =
                new PoolQuestion(start, keep, question.extraKey(), question.cacheSalt());
        synchronized (this) {
            PoolQuestion last = newest.peekLast();
            if (last != null && Arrays.equals(last.tokens(), start)) {
                return;
            }
            newest.addLast(kept);
            if (newest.size() > prompts) {
                newest.removeFirst();
            }
        }
    }

    /** What {@link SharedPool#check} is to be asked. */
    public synchronized List<PoolQuestion> sample() {
        return new ArrayList<>(newest);
    }
}
