package io.warmpath.api;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.replica.PeerStatus;
import io.warmpath.replica.ReplicaCounters.Count;
import io.warmpath.replica.ReplicaSync;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code GET /replicas}: what is known of other gateways. On the event loop. */
public final class ReplicasApi {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int FIRST = -1000;
    private static final double NANOS_PER_MILLI = 1e6;

    private final @Nullable ReplicaSync sync;
    private final AdminAccess access;

    /**
     * @param sync null: each gateway for itself
     */
    public ReplicasApi(@Nullable ReplicaSync sync, AdminAccess access) {
        this.sync = sync;
        this.access = access;
    }

    public void mount(Router router) {
        router.route("/replicas").order(FIRST).handler(this::answer);
    }

    private void answer(RoutingContext rc) {
        if (!access.enters(rc, "GET")) {
            return;
        }
        rc.response()
                .putHeader("content-type", "application/json")
                .end(Buffer.buffer(JSON.valueToTree(body()).toString()));
    }

    private Map<String, Object> body() {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("object", "list");
        body.put("sync", sync != null);
        if (sync == null) {
            body.put("data", List.of());
            return body;
        }
        body.put("id", Long.toHexString(sync.options().router()));
        body.put("name", sync.options().name());
        body.put("connected", sync.isUp());
        body.put("max_age_ms", sync.options().maxAge().toMillis());
        body.put("open_bookings", sync.told());
        Map<String, Long> counts = new LinkedHashMap<>();
        for (Count what : Count.values()) {
            counts.put(what.word(), sync.counters().get(what));
        }
        counts.put("dropped", sync.dropped());
        body.put("counts", counts);
        body.put("data", sync.peers().stream().map(ReplicasApi::row).toList());
        return body;
    }

    private static Map<String, Object> row(PeerStatus p) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", Long.toHexString(p.router()));
        row.put("name", p.name());
        row.put("counted", p.counted());
        if (p.ageNanos() != Long.MAX_VALUE) {
            row.put("age_ms", p.ageNanos() / NANOS_PER_MILLI);
        }
        row.put("silent_ms", p.silentNanos() / NANOS_PER_MILLI);
        row.put("open_bookings", p.open());
        row.put("unknown_worker", p.unplaced());
        row.put("lost_messages", p.lost());
        row.put("resyncs", p.resyncs());
        row.put("dropouts", p.dropouts());
        return row;
    }
}
