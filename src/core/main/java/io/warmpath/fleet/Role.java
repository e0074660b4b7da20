package io.warmpath.fleet;

import java.util.Locale;

/** Which part of a request an engine does, in a fleet that splits them. */
public enum Role {
    /** The whole of it. */
    BOTH,
    /** The prompt, whose KV cache it hands over. */
    PREFILL,
    /** The answer, from a KV cache that it is handed. */
    DECODE,
    /** Images and other media, for the engines of the other roles: no request goes there. */
    ENCODE;

    /** As it is written. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * @throws IllegalArgumentException naming what is allowed
     */
    public static Role parse(String text) {
        for (Role role : values()) {
            if (role.label().equals(text.strip().toLowerCase(Locale.ROOT))) {
                return role;
            }
        }
        throw new IllegalArgumentException(
                "role `" + text + "` must be prefill, decode, both or encode");
    }
}
