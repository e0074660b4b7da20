package io.warmpath.gateway.migration;

/**
 * How streams are gone on with elsewhere.
 *
 * @param limit how often one request may be moved; 0: never
 * @param maxBytes of one request and what it was answered that are kept for it
 * @param maxTotalBytes of all requests together
 */
public record MigrationOptions(int limit, int maxBytes, long maxTotalBytes) {
    public static final MigrationOptions OFF = new MigrationOptions(0, 0, 0);
    public static final MigrationOptions DEFAULTS = new MigrationOptions(3, 1 << 20, 256L << 20);

    public MigrationOptions {
        if (limit < 0 || maxBytes < 0 || maxTotalBytes < 0) {
            throw new IllegalArgumentException(
                    "negative: " + limit + ", " + maxBytes + " or " + maxTotalBytes);
        }
    }
}
