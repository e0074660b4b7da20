package io.warmpath.tokens.jinja;

/**
 * What one rendering may cost.
 *
 * @param maxSteps iterations, calls and characters looked at (32 a step)
 * @param maxChars characters of all texts made, those on the way to the result included, and 8 for
 *     each element of a list made
 */
public record RenderLimits(long maxSteps, long maxChars) {
    /** Far above what conversations need: a 2 MB prompt takes some 10^5 steps. */
    public static final RenderLimits DEFAULT = new RenderLimits(2_000_000, 64L << 20);
}
