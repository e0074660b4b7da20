package io.warmpath.pool;

import java.util.ArrayList;
import java.util.List;

/**
 * Finds out with few questions how far a prompt's pages go in the pool.
 *
 * <p>Engines write a prompt's pages in order and fetch only from the start, so what matters is
 * where the run ends. Round one asks at growing distances, later ones divide the gap between the
 * last page found and the first one missing, until they touch. What lies between two pages found is
 * taken as held: a hole that eviction tore there makes the run look longer than it is, which costs
 * one cold prefill of the rest and no wrong answer. {@code all} asks for every page instead.
 *
 * <p>One thread at a time.
 */
final class Probe {
    private final PageCache.Known[] pages;
    private final int width;
    private final boolean all;
    private boolean first = true;

    /**
     * @param pages what is known already, by position; kept and written
     * @param width positions asked in one round, at least 1
     */
    Probe(PageCache.Known[] pages, int width, boolean all) {
        this.pages = pages;
        this.width = Math.max(1, width);
        this.all = all;
    }

    void answered(int page, boolean held) {
        pages[page] = held ? PageCache.Known.HELD : PageCache.Known.MISSING;
    }

    /** Positions to ask now, ascending; empty: all is known that has to be. */
    List<Integer> next() {
        List<Integer> round = new ArrayList<>();
        if (all) {
            for (int i = 0; i < pages.length; i++) {
                unknown(i, round);
            }
            return round;
        }
        int end = firstMissing();
        int begin = behindLastHeld(end);
        int gap = end - begin;
        if (gap <= width) {
            for (int i = begin; i < end; i++) {
                round.add(i);
            }
        } else if (first && end == pages.length) {
            for (int step = 1; begin + step - 1 < end; step *= 2) {
                round.add(begin + step - 1);
            }
            if (round.getLast() != end - 1) {
                round.add(end - 1);
            }
        } else {
            // width positions that divide the gap into width + 1 parts, as equal as they get
            for (int i = 1; i <= width; i++) {
                round.add(begin + (int) ((long) gap * i / (width + 1)));
            }
        }
        first = false;
        return round;
    }

    private void unknown(int page, List<Integer> into) {
        if (pages[page] == PageCache.Known.NOTHING) {
            into.add(page);
        }
    }

    private int firstMissing() {
        for (int i = 0; i < pages.length; i++) {
            if (pages[i] == PageCache.Known.MISSING) {
                return i;
            }
        }
        return pages.length;
    }

    private int behindLastHeld(int end) {
        for (int i = end - 1; i >= 0; i--) {
            if (pages[i] == PageCache.Known.HELD) {
                return i + 1;
            }
        }
        return 0;
    }

    /** When {@link #next} is empty: what is held, as half-open ranges. */
    int[] bounds() {
        if (!all) {
            int run = firstMissing();
            return run == 0 ? new int[0] : new int[] {0, run};
        }
        List<Integer> bounds = new ArrayList<>();
        boolean inside = false;
        for (int i = 0; i <= pages.length; i++) {
            boolean held = i < pages.length && pages[i] == PageCache.Known.HELD;
            if (held != inside) {
                bounds.add(i);
                inside = held;
            }
        }
        return bounds.stream().mapToInt(Integer::intValue).toArray();
    }
}
