package io.warmpath.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What two workers share, by their labels. */
class PlaceTest {
    private static Place place(String text) {
        String[] parts = text.split("/", -1);
        return Place.of(
                Map.of("zone", parts[0], "rack", parts[1], "node", parts[2], "gpu", "h100"));
    }

    @ParameterizedTest
    @CsvSource({
        "a/r/n, a/r/n, NODE",
        "a/r/n, a/r/m, RACK",
        "a/r/n, a/s/m, ZONE",
        "a/r/n, b/r/n, FLEET", // names of racks are counted anew in each zone
        "//n, //n, NODE",
        "/r/, /r/, RACK",
        "a/r/n, /r/m, RACK",
        "a//, //, FLEET",
        "//, //, FLEET",
    })
    void the_narrowest_that_both_are_in(String one, String other, Place.Shared shared) {
        assertEquals(shared, place(one).shared(place(other)));
        assertEquals(shared, place(other).shared(place(one)));
    }
}
