package io.warmpath.api;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.events.SourceReport;
import io.warmpath.events.SourceStatus;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** {@code GET /events/sources}: where the KV events of each rank stand. On the event loop. */
public final class EventSourcesApi {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int FIRST = -1000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Supplier<List<SourceReport>> sources;
    private final AdminAccess access;
    private final InstantSource clock;

    /**
     * @param sources asked for each request; must not wait
     */
    public EventSourcesApi(
            Supplier<List<SourceReport>> sources, AdminAccess access, InstantSource clock) {
        this.sources = sources;
        this.access = access;
        this.clock = clock;
    }

    public void mount(Router router) {
        router.route("/events/sources").order(FIRST).handler(this::answer);
    }

    private void answer(RoutingContext rc) {
        if (!access.enters(rc, "GET")) {
            return;
        }
        List<Map<String, Object>> rows = sources.get().stream().map(this::row).toList();
        rc.response()
                .putHeader("content-type", "application/json")
                .end(
                        Buffer.buffer(
                                JSON.valueToTree(Map.of("object", "list", "data", rows))
                                        .toString()));
    }

    private Map<String, Object> row(SourceReport r) {
        SourceStatus s = r.status();
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("worker", r.worker());
        row.put("worker_id", Long.toUnsignedString(r.workerId()));
        row.put("dp_rank", r.dpRank());
        if (r.endpoint() != null) {
            row.put("endpoint", r.endpoint());
        }
        if (r.replayEndpoint() != null) {
            row.put("replay_endpoint", r.replayEndpoint());
        }
        row.put("state", s.state().word());
        row.put("credit", r.credit());
        row.put("why", s.why());
        if (r.endpoint() == null) {
            return row;
        }
        row.put("since", clock.instant().minusNanos(s.stateNanos()).toString());
        if (s.sequence() != SourceStatus.NO_SEQUENCE) {
            row.put("sequence", Long.toUnsignedString(s.sequence()));
        }
        if (s.batches() > 0) {
            row.put("last_event_age_ms", s.lastEventNanos() / NANOS_PER_MILLI);
        }
        row.put("batches", s.batches());
        row.put("stored_blocks", s.storedBlocks());
        row.put("removed_blocks", s.removedBlocks());
        row.put("offloaded_blocks", s.offloadedBlocks());
        row.put("device_only", r.deviceOnly());
        row.put("duplicates", s.duplicates());
        row.put("rejected", s.rejected());
        row.put("gaps", s.gaps());
        row.put("repaired", s.repaired());
        row.put("lost", s.lost());
        row.put("restarts", s.restarts());
        row.put("replays", s.replays());
        row.put("owed_requests", s.owed());
        return row;
    }
}
