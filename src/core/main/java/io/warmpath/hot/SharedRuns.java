package io.warmpath.hot;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The longest prefixes that sets of prompts have in common. Sorted, prompts with a common prefix
 * stand side by side, so each such set is an interval in which neighbours share at least so many
 * blocks. They are nested as the prefixes are: one pass with a stack finds all of them, at most one
 * for each prompt.
 */
final class SharedRuns {
    /** A prefix of which nearly all hits go on alike is no prefix of its own. */
    private static final double NEARLY_ALL = 0.9;

    private final ToDoubleFunction<PromptSample> worth;
    private final long now;
    private final Deque<Run> open = new ArrayDeque<>();
    private final List<Shared> found = new ArrayList<>();

    /** A prefix by one of its prompts. */
    record Shared(PromptSample of, int blocks, double hits, long ageNanos, String text) {
        HotPrefix prefix() {
            return new HotPrefix(
                    of.group().model(),
                    PromptSample.first(of.prompt(), blocks),
                    hits,
                    ageNanos,
                    text);
        }
    }

    /** An interval that is not closed yet. */
    private static final class Run {
        final int blocks;
        final PromptSample first;
        double hits;
        int samples;
        double largestPart;
        long ageNanos = Long.MAX_VALUE;
        String text;

        Run(int blocks, PromptSample first, String text) {
            this.blocks = blocks;
            this.first = first;
            this.text = text;
        }

        void take(Run inner) {
            hits += inner.hits;
            samples += inner.samples;
            ageNanos = Math.min(ageNanos, inner.ageNanos);
            text = common(text, inner.text);
            if (inner.samples > 1) {
                largestPart = Math.max(largestPart, inner.hits);
            }
        }
    }

    private SharedRuns(ToDoubleFunction<PromptSample> worth, long now) {
        this.worth = worth;
        this.now = now;
    }

    /** {@code group}: sorted, of one group. {@code worth}: hits that a sample stands for now. */
    static List<Shared> of(
            List<PromptSample> group, ToDoubleFunction<PromptSample> worth, long now) {
        SharedRuns runs = new SharedRuns(worth, now);
        for (int i = 0; i < group.size(); i++) {
            PromptSample next = group.get(i);
            runs.next(next, i == 0 ? 0 : group.get(i - 1).common(next));
        }
        runs.close(0);
        return runs.found;
    }

    /** {@code common}: blocks of the sample that the one before it begins with, too. */
    private void next(PromptSample sample, int common) {
        close(common);
        Run one = new Run(sample.prompt().blocks(), sample, sample.text());
        one.hits = worth.applyAsDouble(sample);
        one.samples = 1;
        one.ageNanos = now - sample.atNanos();
        if (!open.isEmpty() && open.element().blocks == one.blocks) {
            open.element().take(one); // the same prompt again
        } else {
            open.push(one);
        }
    }

    /** Ends all runs that are longer; what they had goes to the next shorter one. */
    private void close(int common) {
        while (!open.isEmpty() && open.element().blocks > common) {
            Run ended = open.pop();
            tell(ended);
            if (common > 0 && (open.isEmpty() || open.element().blocks < common)) {
                open.push(new Run(common, ended.first, ended.text));
            }
            if (!open.isEmpty()) {
                open.element().take(ended);
            }
        }
    }

    private void tell(Run run) {
        if (run.samples > 1 && run.largestPart < NEARLY_ALL * run.hits) {
            found.add(new Shared(run.first, run.blocks, run.hits, run.ageNanos, run.text));
        }
    }

    private static String common(String a, String b) {
        int n = 0;
        while (n < a.length() && n < b.length() && a.charAt(n) == b.charAt(n)) {
            n++;
        }
        if (n > 0 && Character.isHighSurrogate(a.charAt(n - 1))) {
            n--;
        }
        return a.substring(0, n);
    }
}
