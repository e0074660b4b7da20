package io.warmpath.tokens.template;

import io.warmpath.prefix.MediaIds;
import io.warmpath.tokens.profile.Medium;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a model's engines make of media: how many tokens, and for SGLang, which names them by a hash
 * of its own, which ids. Lengths are learnt from answers: what a prompt has beyond its text and the
 * media that are known is that of the one that is not. An image of the same size has as many. Ids
 * are learnt from the events of a request that the engine has computed a medium for. Any thread.
 */
public final class LearntMedia {
    /** Some 200 bytes each; those that nobody asked for the longest make room. */
    private static final int MOST = 16_384;

    private final Map<String, Integer> lengths = newest();
    private final Map<String, MediaIds> ids = newest();

    private static <T> Map<String, T> newest() {
        return new LinkedHashMap<>(64, 0.75f, true) {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, T> eldest) {
                return size() > MOST;
            }
        };
    }

    /** In tokens; 0: not known. */
    public synchronized int length(Medium medium) {
        Integer length = lengths.get(name(medium));
        if (length == null && medium.look() != null) {
            length = lengths.get(medium.look());
        }
        return length == null ? 0 : length;
    }

    /** What an engine that names media itself puts in its place; null: not known. */
    public synchronized @Nullable MediaIds ids(Medium medium) {
        return medium.content() == null ? null : ids.get(medium.content());
    }

    /** What is to be learnt from one request's answer, and from what its engine has stored. */
    public final class Lesson {
        private final List<Medium> media;
        private final int[] text;
        private final int[] places;

        private Lesson(List<Medium> media, int[] text, int[] places) {
            this.media = media;
            this.text = text;
            this.places = places;
        }

        /** Some of its media are here, so that their ids can be learnt. */
        public boolean hasContent() {
            return media.stream().anyMatch(medium -> medium.content() != null);
        }

        /**
         * @param promptTokens as the engine reported
         */
        public void answered(long promptTokens) {
            learn(media, promptTokens - (text.length - places.length));
        }

        /**
         * The engine has computed what was not cached of the prompt.
         *
         * @param stored the ids of whole blocks in a row, from the first that was computed on, with
         *     those of the answer behind them
         * @param promptTokens as the engine reported, as well as those that were cached
         * @return false when they do not fit, or blocks are missing yet
         */
        public boolean stored(int[] stored, int blockSize, long promptTokens, long cachedTokens) {
            synchronized (LearntMedia.this) { // lengths stay what they are
                return storedAt(stored, blockSize, promptTokens, cachedTokens);
            }
        }

        private boolean storedAt(
                int[] stored, int blockSize, long promptTokens, long cachedTokens) {
            int[] starts = starts(promptTokens);
            if (starts.length == 0
                    || cachedTokens < 0
                    || cachedTokens > promptTokens
                    || cachedTokens % blockSize != 0
                    || cachedTokens + stored.length < promptTokens - promptTokens % blockSize
                    || !fits(laidOut(starts, (int) promptTokens), stored, (int) cachedTokens)) {
                return false;
            }
            put(media, starts, stored, (int) cachedTokens);
            return true;
        }

        /** Where each medium begins in the whole prompt; empty: not all lengths are known. */
        private int[] starts(long promptTokens) {
            int[] starts = new int[places.length];
            int more = 0;
            for (int i = 0; i < starts.length; i++) {
                int length = length(media.get(i));
                if (length == 0) {
                    return new int[0];
                }
                starts[i] = places[i] + more;
                more += length - 1;
            }
            return text.length + more == promptTokens ? starts : new int[0];
        }

        /** The prompt with negative ids for media. */
        private int[] laidOut(int[] starts, int promptTokens) {
            int[] all = new int[promptTokens];
            int from = 0;
            int to = 0;
            for (int i = 0; i < starts.length; i++) {
                System.arraycopy(text, from, all, to, places[i] - from);
                to = starts[i] + length(media.get(i));
                Arrays.fill(all, starts[i], to, -1);
                from = places[i] + 1;
            }
            System.arraycopy(text, from, all, to, text.length - from);
            return all;
        }

        private static boolean fits(int[] all, int[] stored, int at) {
            for (int i = 0; i < stored.length && at + i < all.length; i++) {
                int expected = all[at + i];
                if (expected < 0 ? stored[i] >= 0 : stored[i] != expected) {
                    return false;
                }
            }
            return true;
        }
    }

    /**
     * @param text the prompt's ids, with one for each medium
     * @param places of these
     */
    public Lesson lesson(List<Medium> media, int[] text, int[] places) {
        return new Lesson(media, text, places);
    }

    private synchronized void put(List<Medium> media, int[] starts, int[] stored, int at) {
        for (int i = 0; i < starts.length; i++) {
            String content = media.get(i).content();
            int from = starts[i] - at;
            int to = Math.min(from + length(media.get(i)), stored.length);
            MediaIds its = content == null || from < 0 ? null : MediaIds.seen(stored, from, to);
            if (content != null && its != null) {
                ids.put(content, its);
            }
        }
    }

    private synchronized void learn(List<Medium> media, long tokens) {
        long left = tokens;
        Set<String> unknown = new HashSet<>();
        int times = 0;
        for (Medium medium : media) {
            int length = length(medium);
            left -= length;
            if (length == 0) {
                times++;
                unknown.add(medium.look() == null ? name(medium) : medium.look());
            }
        }
        if (times > 0) {
            if (unknown.size() == 1 && left > 0 && left % times == 0) {
                lengths.put(unknown.iterator().next(), (int) (left / times));
            }
        } else if (left != 0) {
            // Not as large as it says, or the engine has other settings now.
            for (Medium medium : media) {
                lengths.remove(name(medium));
                lengths.remove(medium.look());
            }
        }
    }

    /** No size looks like it. */
    private static String name(Medium medium) {
        return "#" + medium.name();
    }
}
