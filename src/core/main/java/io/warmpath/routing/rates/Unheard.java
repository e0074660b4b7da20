package io.warmpath.routing.rates;

/**
 * What other gateways may have sent that this one has not heard of yet, and which of them this one
 * is. Without it all of them see the same least busy worker and send to it at once.
 *
 * @param millis of prefill, a part of one request's; 0 when there is no other gateway
 * @param place of this gateway among those that count, from 0
 * @param gateways that count, this one too
 */
public record Unheard(double millis, int place, int gateways) {
    /** There is no other gateway, or none that counts. */
    public static final Unheard NONE = new Unheard(0, 0, 1);

    public Unheard {
        Bounds.require("millis", millis, Double.MAX_VALUE);
        if (place < 0 || place >= gateways) {
            throw new IllegalArgumentException(
                    "place " + place + " is not one of " + gateways + " gateways");
        }
    }

    /** Which of so many equal workers this gateway takes first: no two begin at the same one. */
    public int first(int workers) {
        return (int) ((long) place * workers / gateways);
    }
}
