package io.warmpath.sim.session;

import org.jspecify.annotations.Nullable;

/**
 * SGLang's {@code session_params} of one request.
 *
 * @param id the session
 * @param rid the request of the session that this one goes on from; null: in a streaming session
 *     the last one, in others none
 * @param offset tokens of the past that stay, 0 for all
 * @param replace what came after {@code rid} is forgotten; everything when that is null
 * @param dropPreviousOutput the last answer is no part of the past
 */
public record SessionParams(
        String id, @Nullable String rid, int offset, boolean replace, boolean dropPreviousOutput) {}
