package io.warmpath.adapter.nativeindex;

import io.warmpath.prefix.PrefixIndex;

/** Maps the ABI's status values to exceptions. */
final class Status {
    private Status() {}

    /**
     * @throws IllegalStateException no free slot, or the slot is not open
     * @throws NativeIndexException every other refusal
     */
    static void check(int status, String call) {
        if (status != KvLayout.OK) {
            throw exception(status, call);
        }
    }

    private static RuntimeException exception(int status, String call) {
        return switch (status) {
            case KvLayout.E_FULL ->
                    new IllegalStateException(
                            "all "
                                    + PrefixIndex.MAX_SLOTS
                                    + " slots of the index are taken; remove a worker");
            case KvLayout.E_SLOT -> new IllegalStateException("the slot is not open");
            default ->
                    new NativeIndexException(
                            call
                                    + " failed with status "
                                    + status
                                    + ": "
                                    + KvIndexLibrary.kvi_status_text(status).getString(0));
        };
    }
}
