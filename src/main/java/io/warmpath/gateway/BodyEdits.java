package io.warmpath.gateway;

/**
 * Where the body's JSON can be added to without parsing it again. Offsets are bytes of the body.
 *
 * @param afterBrace just behind the opening brace of the top-level object
 * @param emptyObject the object has no member, so nothing follows an added one
 * @param hasRank a dp rank field is there already; then none is added
 * @param saltStart first byte of the value of the top-level {@code cache_salt}; -1 when it is
 *     absent
 * @param saltEnd first byte behind that value
 */
public record BodyEdits(
        int afterBrace, boolean emptyObject, boolean hasRank, int saltStart, int saltEnd) {}
