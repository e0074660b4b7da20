package io.warmpath.gateway.flow;

import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.RequestOutcome;
import io.warmpath.gateway.observe.FlowMetrics.RetryCause;
import org.jspecify.annotations.Nullable;

/** What an engine's failure says of its worker, and whether another one may be asked for it. */
final class EngineFailures {
    private EngineFailures() {}

    /**
     * An answer with this status is the worker's fault, not the request's, unless it says that its
     * queue is full ({@link FullQueue}).
     */
    static boolean isWorkersFault(int status) {
        return status == 500 || status == 502 || status == 503 || status == 504;
    }

    /** The connection is gone, or there never was one. */
    static boolean isLostConnection(GatewayError error) {
        return error instanceof GatewayError.WorkerUnreachable
                || error instanceof GatewayError.UpstreamBroke
                || (error instanceof GatewayError.UpstreamTimeout && error.safeToRetry());
    }

    /**
     * As the fleet counts it.
     *
     * @return null: the worker has no part in it
     */
    static @Nullable RequestOutcome outcome(GatewayError error) {
        return switch (error) {
            case GatewayError.OutOfFiles e -> null;
            case GatewayError.Overloaded e -> null;
            case GatewayError.BadUpstreamAnswer e -> RequestOutcome.FAILED;
            case GatewayError.UpstreamTimeout e -> RequestOutcome.STALLED;
            case GatewayError.WorkerUnwell e -> RequestOutcome.STALLED;
            default -> RequestOutcome.LOST;
        };
    }

    /**
     * @param stream a stream was asked for
     * @return null: it is not tried again
     */
    static @Nullable RetryCause retryCause(GatewayError error, boolean stream) {
        return switch (error) {
            case GatewayError.WorkerUnreachable e -> RetryCause.UNREACHABLE;
            case GatewayError.UpstreamBroke e -> RetryCause.BROKE;
            case GatewayError.BadUpstreamAnswer e -> RetryCause.BROKE;
            case GatewayError.Overloaded e -> RetryCause.FULL;
            case GatewayError.UpstreamTimeout e when e.safeToRetry() -> RetryCause.UNREACHABLE;
            // A whole answer may just take as long as that, and would again.
            case GatewayError.UpstreamTimeout e -> stream ? RetryCause.TIMEOUT : null;
            case GatewayError.WorkerUnwell e -> RetryCause.TIMEOUT;
            default -> null;
        };
    }
}
