package io.warmpath.replica;

import io.warmpath.load.Booked;

/** An own booking as others have been told of it. */
final class AnnouncedBooking {
    final Booked booked;
    final Ranks.Place place;
    final long number;
    boolean prefilled;
    int outputTokens;
    int weight;

    AnnouncedBooking(Booked booked, Ranks.Place place, long number) {
        this.booked = booked;
        this.place = place;
        this.number = number;
        read();
    }

    void read() {
        prefilled = booked.prefilled();
        outputTokens = booked.outputTokens();
        weight = booked.weight();
    }
}
