package io.warmpath.tokens.template;

import io.warmpath.tokens.profile.Medium;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How many tokens a model's engines make of media. Learnt from answers: what a prompt has beyond
 * its text and the media that are known is that of the one that is not. An image of the same size
 * has as many. Any thread.
 */
public final class MediaLengths {
    /** Some 200 bytes each; those that nobody asked for the longest make room. */
    private static final int MOST = 16_384;

    private final Map<String, Integer> lengths =
            new LinkedHashMap<>(64, 0.75f, true) {
                private static final long serialVersionUID = 1;

                @Override
                protected boolean removeEldestEntry(Map.Entry<String, Integer> eldest) {
                    return size() > MOST;
                }
            };

    /** In tokens; 0: not known. */
    public synchronized int of(Medium medium) {
        Integer length = lengths.get(name(medium));
        if (length == null && medium.look() != null) {
            length = lengths.get(medium.look());
        }
        return length == null ? 0 : length;
    }

    /** What is to be learnt from one request's answer. */
    public final class Lesson {
        private final List<Medium> media;
        private final int others;

        private Lesson(List<Medium> media, int others) {
            this.media = media;
            this.others = others;
        }

        /**
         * @param promptTokens as the engine reported
         */
        public void answered(long promptTokens) {
            learn(media, promptTokens - others);
        }
    }

    /**
     * @param others tokens of the prompt that are no medium's
     */
    public Lesson lesson(List<Medium> media, int others) {
        return new Lesson(media, others);
    }

    private synchronized void learn(List<Medium> media, long tokens) {
        long left = tokens;
        Set<String> unknown = new HashSet<>();
        int times = 0;
        for (Medium medium : media) {
            int length = of(medium);
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
