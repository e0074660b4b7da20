package io.warmpath.tokens.model;

import org.jspecify.annotations.Nullable;

/**
 * The place of one {@link ModelSource}: what of it is in service, and why its files are not, if
 * they are not. {@link #model}: any thread. The rest belongs to whoever loads, one at a time.
 */
final class ModelSlot {
    final ModelSource source;

    /** Null: its models are routed by load. */
    volatile @Nullable ServedModel model;

    /** Of the files that were tried last. */
    FileStamp tried = FileStamp.NONE;

    /** As they were when they were last looked at. */
    FileStamp seen = FileStamp.NONE;

    /** What was wrong with the files that were tried last. */
    String problem = "";

    ModelSlot(ModelSource source) {
        this.source = source;
    }
}
