package io.warmpath.gateway.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.RequestOutcome;
import io.warmpath.gateway.observe.FlowMetrics.RetryCause;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What follows from an engine's failure. */
class EngineFailuresTest {
    private static final GatewayError ABSENT = new GatewayError.WorkerUnreachable("w");
    private static final GatewayError BAD = new GatewayError.BadUpstreamAnswer("w", "no HTTP");
    private static final GatewayError UNWELL = new GatewayError.WorkerUnwell("w");

    @Test
    void a_worker_that_was_not_reached_has_lost_its_connection_and_another_one_is_asked() {
        assertEquals(RetryCause.UNREACHABLE, EngineFailures.retryCause(ABSENT, false));
        assertTrue(EngineFailures.isLostConnection(ABSENT));
        assertEquals(RequestOutcome.LOST, EngineFailures.outcome(ABSENT));
    }

    @Test
    void what_the_gateway_lacks_is_no_workers_fault_and_no_reason_to_ask_another() {
        GatewayError lack = new GatewayError.OutOfFiles();
        assertNull(EngineFailures.outcome(lack));
        assertNull(EngineFailures.retryCause(lack, true));
        assertFalse(EngineFailures.isLostConnection(lack));
    }

    @Test
    void a_bad_answer_is_tried_again_over_a_connection_that_is_not_lost() {
        assertEquals(RetryCause.BROKE, EngineFailures.retryCause(BAD, true));
        assertFalse(EngineFailures.isLostConnection(BAD));
        assertEquals(RequestOutcome.FAILED, EngineFailures.outcome(BAD));
    }

    @Test
    void a_worker_that_is_unwell_has_stalled_and_another_one_is_asked() {
        assertEquals(RequestOutcome.STALLED, EngineFailures.outcome(UNWELL));
        assertEquals(RetryCause.TIMEOUT, EngineFailures.retryCause(UNWELL, true));
        assertEquals(RetryCause.TIMEOUT, EngineFailures.retryCause(UNWELL, false));
    }

    @Test
    void refusals_of_a_request_are_not_the_workers_fault() {
        for (int status : new int[] {500, 502, 503, 504}) {
            assertTrue(EngineFailures.isWorkersFault(status), () -> "status " + status);
        }
        for (int status : new int[] {200, 400, 404, 429, 501}) {
            assertFalse(EngineFailures.isWorkersFault(status), () -> "status " + status);
        }
    }

    @Test
    void a_full_queue_is_no_failure_and_a_reason_to_ask_another() {
        GatewayError full = FullQueue.error("w", Duration.ofSeconds(3));
        assertNull(EngineFailures.outcome(full));
        assertEquals(RetryCause.FULL, EngineFailures.retryCause(full, false));
        assertFalse(EngineFailures.isLostConnection(full));
        assertEquals(503, full.httpStatus());
        assertEquals(Duration.ofSeconds(3), full.retryAfter());
    }
}
