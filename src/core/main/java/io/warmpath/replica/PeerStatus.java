package io.warmpath.replica;

/**
 * Another gateway at one moment.
 *
 * @param router its number
 * @param name as it says, may be empty
 * @param counted its bookings are part of the load that routing sees
 * @param ageNanos what is known of it is at most so old; {@link Long#MAX_VALUE}: nothing is yet
 * @param silentNanos since its last message
 * @param open its open bookings, as far as heard
 * @param unplaced those among them whose worker was not known here a second ago
 * @param lost messages of it that never came
 * @param resyncs times its whole state was taken over
 * @param dropouts times it fell out for its age
 */
public record PeerStatus(
        long router,
        String name,
        boolean counted,
        long ageNanos,
        long silentNanos,
        int open,
        int unplaced,
        long lost,
        long resyncs,
        long dropouts) {}
