package io.warmpath.api.admin;

import io.warmpath.api.error.InvalidRequest;
import io.warmpath.fault.GatewayException;
import org.jspecify.annotations.Nullable;

/** Reads how many rows a caller wants. */
final class Limits {
    private Limits() {}

    /**
     * @param most {@link Integer#MAX_VALUE}: any number
     * @throws GatewayException when it is no number from 1 to the most
     */
    static int limit(@Nullable String given, int otherwise, int most) {
        try {
            int limit = given == null ? otherwise : Integer.parseInt(given);
            if (limit >= 1 && limit <= most) {
                return limit;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw InvalidRequest.bad(
                "limit",
                most == Integer.MAX_VALUE
                        ? "`limit` must be an integer of 1 or more."
                        : "`limit` must be an integer in 1.." + most + ".");
    }
}
