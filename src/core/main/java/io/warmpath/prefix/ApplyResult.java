package io.warmpath.prefix;

/**
 * What became of a batch.
 *
 * @param applied events that changed or confirmed the index
 * @param orphans stored events whose parent is unknown; kept aside until the parent comes
 * @param unknownRemoved hashes to remove that were not there
 * @param ignored events of a closed slot or outside the index's limits
 */
public record ApplyResult(long applied, long orphans, long unknownRemoved, long ignored) {
    public static final ApplyResult NONE = new ApplyResult(0, 0, 0, 0);

    public ApplyResult plus(ApplyResult o) {
        return new ApplyResult(
                applied + o.applied,
                orphans + o.orphans,
                unknownRemoved + o.unknownRemoved,
                ignored + o.ignored);
    }
}
