package io.warmpath.gateway;

import io.vertx.core.buffer.Buffer;
import org.jspecify.annotations.Nullable;

/** Adds fields to a JSON body by splicing bytes; every other byte stays as the client sent it. */
final class BodyEditor {
    private BodyEditor() {}

    /**
     * @param dpRank value of {@code routed_dp_rank} to add, or -1
     * @param cacheSalt value that {@code cache_salt} must have, or null to leave it alone
     * @return the body itself when there is nothing to change
     */
    static Buffer edit(Buffer body, BodyEdits at, int dpRank, @Nullable String cacheSalt) {
        String rank = dpRank >= 0 && !at.hasRank() ? "\"routed_dp_rank\":" + dpRank : null;
        String salt = cacheSalt == null ? null : quoted(cacheSalt);
        if (rank == null && salt == null) {
            return body;
        }
        boolean replaceSalt = salt != null && at.saltStart() >= 0;
        String addedSalt = salt == null || replaceSalt ? null : "\"cache_salt\":" + salt;
        String added =
                rank == null
                        ? addedSalt == null ? "" : addedSalt
                        : addedSalt == null ? rank : rank + ',' + addedSalt;
        if (!added.isEmpty() && !at.emptyObject()) {
            added += ',';
        }
        Buffer edited = Buffer.buffer(body.length() + 2 * added.length() + 64);
        edited.appendBuffer(body, 0, at.afterBrace());
        edited.appendString(added);
        if (salt == null || !replaceSalt) {
            return edited.appendBuffer(body, at.afterBrace(), body.length() - at.afterBrace());
        }
        edited.appendBuffer(body, at.afterBrace(), at.saltStart() - at.afterBrace());
        edited.appendString(salt);
        return edited.appendBuffer(body, at.saltEnd(), body.length() - at.saltEnd());
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20 || Character.isSurrogate(c)) {
                // A lone surrogate has no UTF-8 form; as an escape it survives.
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }
}
