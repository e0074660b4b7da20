package io.warmpath.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PinRequestTest {
    @ParameterizedTest
    @CsvSource({
        "600, 600",
        "600s, 600",
        " 600S , 600",
        "10m, 600",
        "5m, 300",
        "1h, 3600",
        "1H, 3600",
        "0, 300",
        "1, 300",
        "4m, 300",
        "3601, 3600",
        "61m, 3600",
        "24h, 3600",
        "99999999999999999999999999, 3600",
        "99999999999999999999999999h, 3600"
    })
    void times_are_read_in_seconds_minutes_and_hours_and_clamped(String ttl, int seconds) {
        assertEquals(seconds, PinRequest.of(ttl).ttlSeconds());
    }

    @ParameterizedTest
    @CsvSource({"''", "forever", "-600", "h", "1d", "1.5h", "5 minutes", "٦٠٠", "1h30m", "600ss"})
    void what_is_no_time_is_the_shortest(String ttl) {
        assertEquals(300, PinRequest.of(ttl).ttlSeconds());
    }

    @Test
    void the_longer_of_two_wins() {
        PinRequest hour = PinRequest.of("1h");
        PinRequest minutes = PinRequest.of("5m");
        assertEquals(hour, minutes.orLonger(hour));
        assertEquals(hour, hour.orLonger(minutes));
        assertThrows(IllegalArgumentException.class, () -> new PinRequest(299));
        assertThrows(IllegalArgumentException.class, () -> new PinRequest(3601));
    }
}
