package io.warmpath.routing.rates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Place;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.fleet.probe.MovedKv;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What engines count against how it is; requests of 1,000 tokens, a sample for each. */
public class TransferRatesTest {
    private static final long WORKER = 7;
    private static final int TOKENS = 1000;

    private final TransferRates rates = new TransferRates();
    private MovedKv total = new MovedKv(5e6, 1e12, 70, 900); // of before this gateway

    /** An engine that has fetched for 50 requests. */
    public static TransferRates shown(long worker, int bytesPerToken, double gigabits) {
        TransferRates rates = new TransferRates();
        double bytes = (double) TOKENS * bytesPerToken;
        MovedKv total = MovedKv.NONE;
        for (int i = 0; i <= 50; i++) {
            rates.told(load(total), worker);
            rates.sent(worker, Place.Shared.FLEET, TOKENS);
            total = total.plus(new MovedKv(TOKENS, bytes, 1, bytes * 8e-9 / gigabits));
        }
        return rates;
    }

    private static List<EngineLoad> load(MovedKv moved) {
        return List.of(new EngineLoad(0, 0, 0, -1, -1, moved, null));
    }

    private void fetches(Place.Shared by, double bytes, int transfers, double secondsEach) {
        rates.sent(WORKER, by, TOKENS);
        total = total.plus(new MovedKv(TOKENS, bytes, transfers, transfers * secondsEach));
        rates.told(load(total), WORKER);
    }

    private TransferRates.Known known() {
        return rates.of(WORKER);
    }

    @Test
    void a_few_samples_tell_nothing() {
        rates.told(load(total), WORKER);
        for (int i = 0; i < 9; i++) {
            assertEquals(TransferRates.Known.NOTHING, known(), i + " samples");
            fetches(Place.Shared.FLEET, 1e8, 1, 0.1);
        }
        assertEquals(1e5, known().bytesPerToken(), 1);
        assertEquals(1e9, known().bytesPerSecond(), 1);
    }

    /** Four devices fetch a quarter each, at once: the request waits for 0.1 s and not for 0.4. */
    @Test
    void transfers_of_one_request_run_beside_each_other() {
        rates.told(load(total), WORKER);
        for (int i = 0; i < 20; i++) {
            fetches(Place.Shared.FLEET, 1e8, 4, 0.1);
        }
        assertEquals(1e9, known().bytesPerSecond(), 1);
    }

    @Test
    void the_link_is_learnt_where_all_came_by_the_same() {
        rates.told(load(total), WORKER);
        for (int i = 0; i < 20; i++) {
            fetches(Place.Shared.FLEET, 1e8, 1, 0.1);
        }
        for (int i = 0; i < 20; i++) { // the first of them may have begun before
            fetches(Place.Shared.ZONE, 1e8, 1, 0.01);
        }
        TransferRates.Link zone = known().link(Place.Shared.ZONE);
        assertEquals(1e10, zone.bytes() / zone.seconds(), 1);
        for (int i = 0; i < 20; i++) {
            rates.sent(WORKER, Place.Shared.FLEET, TOKENS);
            fetches(Place.Shared.ZONE, 1e8, 1, 0.05);
        }
        assertEquals(zone, known().link(Place.Shared.ZONE), "nobody knows which took how long");
        assertEquals(1e5, known().bytesPerToken(), 1, "as large as ever");
    }

    @Test
    void nothing_is_learnt_of_what_others_have_sent() {
        rates.told(load(total), WORKER);
        for (int i = 0; i < 20; i++) {
            fetches(Place.Shared.FLEET, 1e8, 1, 0.1);
        }
        TransferRates.Link ours = known().link(Place.Shared.FLEET);
        for (int i = 0; i < 20; i++) {
            total = total.plus(new MovedKv(TOKENS, 1e8, 1, 1));
            rates.told(load(total), WORKER);
        }
        double least = 0.75 * ours.bytes() / ours.seconds();
        assertTrue(known().bytesPerSecond() > least, "but of the one that may have been ours");
    }

    @Test
    void one_that_hangs_does_not_overturn_what_was_learnt() {
        rates.told(load(total), WORKER);
        for (int i = 0; i < 30; i++) {
            fetches(Place.Shared.FLEET, 1e8, 1, 0.1);
        }
        fetches(Place.Shared.FLEET, 1e8, 1, 300);
        assertTrue(known().bytesPerSecond() > 0.85e9, known()::toString);
        for (int i = 0; i < 100; i++) {
            fetches(Place.Shared.FLEET, 1e8, 1, 1);
        }
        assertEquals(1e8, known().bytesPerSecond(), 2e7, "but the network has become slow");
    }

    @Test
    void an_engine_that_starts_anew_counts_from_nothing() {
        rates.told(load(total), WORKER);
        for (int i = 0; i < 20; i++) {
            fetches(Place.Shared.FLEET, 1e8, 1, 0.1);
        }
        TransferRates.Known before = known();
        total = new MovedKv(10, 1e6, 1, 0.1);
        rates.told(load(total), WORKER);
        assertEquals(before, known());
        fetches(Place.Shared.FLEET, 1e8, 1, 0.1);
        assertEquals(1e9, known().bytesPerSecond(), 1);
    }

    @Test
    void ranks_are_summed_up_and_who_tells_nothing_is_forgotten() {
        for (int i = 0; i < 20; i++) {
            MovedKv half = new MovedKv(500 * i, 5e7 * i, 1.0 * i, 0.1 * i);
            rates.told(
                    List.of(
                            new EngineLoad(0, 0, 0, -1, -1, half, null),
                            new EngineLoad(1, 0, 0, -1, -1, half, null)),
                    WORKER);
        }
        assertEquals(1e5, known().bytesPerToken(), 1);
        rates.told(List.of(), WORKER);
        assertEquals(TransferRates.Known.NOTHING, known());
    }
}
