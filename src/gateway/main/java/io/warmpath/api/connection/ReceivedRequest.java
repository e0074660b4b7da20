package io.warmpath.api.connection;

import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.observe.FlowMetrics;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * A request between its arrival and its end: starts it once, passes its client's leaving on to
 * whatever runs, and counts what never ran. On the request's event loop.
 */
abstract class ReceivedRequest {
    private static final Logger LOG = Logger.getLogger(ReceivedRequest.class);

    final FlowMetrics metrics;
    final String requestId;
    private @Nullable Runnable leave;
    boolean refused;

    ReceivedRequest(FlowMetrics metrics, String requestId) {
        this.metrics = metrics;
        this.requestId = requestId;
    }

    /**
     * @return what to do when the client leaves
     * @throws GatewayException the answer, counted as a rejected request
     */
    abstract Runnable run();

    final void start() {
        try {
            leave = run();
        } catch (GatewayException e) {
            refuse(e.error());
        } catch (RuntimeException e) {
            LOG.errorf(e, "request %s failed by a bug in the gateway", requestId);
            refuse(new GatewayError.Internal(requestId));
        }
    }

    final void refuse(GatewayError error) {
        metrics.rejected();
        answer(error);
    }

    final void answer(GatewayError error) {
        refused = true;
        metrics.refused(Refusals.of(client(), requestId, error));
        respond(error);
    }

    abstract ClientRequest client();

    abstract void respond(GatewayError error);

    void clientGone() {
        Runnable running = leave;
        if (running != null) {
            running.run();
        } else if (!refused) {
            refused = true;
            metrics.cancelledEarly();
        }
    }
}
