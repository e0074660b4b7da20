package io.warmpath.api.admin;

import io.warmpath.api.error.InvalidRequest;
import io.warmpath.fault.GatewayException;

/**
 * How many values the tree of one body may have: a value of a byte or two takes a hundred bytes in
 * a tree. One thread.
 */
final class TreeRoom {
    private final int mostValues;
    private final int mostNests;
    private int values;
    private int nests;

    /** {@code mostNests}: arrays and objects. */
    TreeRoom(int mostValues, int mostNests) {
        this.mostValues = mostValues;
        this.mostNests = mostNests;
    }

    /**
     * One more value.
     *
     * @param nest it is an array or an object
     * @throws GatewayException a bad request, when it is one too many
     */
    void take(boolean nest) {
        nests += nest ? 1 : 0;
        if (++values > mostValues || nests > mostNests) {
            throw InvalidRequest.bad(
                    "",
                    ("The body has more than %s values, or %s arrays and objects; post its"
                                    + " events in several batches.")
                            .formatted(mostValues, mostNests));
        }
    }
}
