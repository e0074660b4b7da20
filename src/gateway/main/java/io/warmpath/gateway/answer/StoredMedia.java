package io.warmpath.gateway.answer;

import io.warmpath.fleet.EventWatch;
import io.warmpath.tokens.template.LearntMedia;
import java.util.Arrays;

/**
 * What an engine that names media itself puts in their places: it says so in the events of the
 * request, which carry a tag. They may come before the answer's end or behind it. Any thread.
 */
final class StoredMedia implements EventWatch.Stored {
    /** Of one request; more is not kept. */
    private static final int MOST_TOKENS = 1 << 15;

    private final LearntMedia.Lesson lesson;
    private int[] tokens = new int[0];
    private int blockSize;
    private long last;
    private boolean broken;
    private long promptTokens;
    private long cachedTokens;

    StoredMedia(LearntMedia.Lesson lesson) {
        this.lesson = lesson;
    }

    @Override
    public synchronized boolean more(long parent, long last, int[] tokens, int blockSize) {
        int before = this.tokens.length;
        broken |=
                (before > 0 && parent != this.last) || before + (long) tokens.length > MOST_TOKENS;
        if (broken) {
            return true; // another rank's, or a request that was computed anew
        }
        this.tokens = Arrays.copyOf(this.tokens, before + tokens.length);
        System.arraycopy(tokens, 0, this.tokens, before, tokens.length);
        this.last = last;
        this.blockSize = blockSize;
        return isLearnt();
    }

    /**
     * The answer has ended.
     *
     * @param prompt its tokens, as the engine reported
     * @param cached of these, at least 0
     */
    synchronized void answered(long prompt, long cached) {
        promptTokens = prompt;
        cachedTokens = cached;
        isLearnt();
    }

    private boolean isLearnt() {
        return promptTokens > 0
                && tokens.length > 0
                && !broken
                && lesson.stored(tokens, blockSize, promptTokens, cachedTokens);
    }
}
