package io.warmpath.fleet.metadata;

/** A worker's statement about its pool cannot be used. */
public final class MetadataException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final String path;

    /** {@code path}: of the wrong member, such as {@code sglang_hicache_mooncake.page_size}. */
    public MetadataException(String path, String message) {
        super("`" + path + "` " + message + ".");
        this.path = path;
    }

    /** Of the wrong member. */
    public String path() {
        return path;
    }
}
