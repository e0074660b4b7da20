package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.smallrye.common.annotation.NonBlocking;
import io.warmpath.replica.PeerStatus;
import io.warmpath.replica.ReplicaCounters.Count;
import io.warmpath.replica.ReplicaSync;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** What is known of other gateways. */
@Path("/replicas")
@Produces(MediaType.APPLICATION_JSON)
public class ReplicasResource {
    private static final double NANOS_PER_MILLI = 1e6;

    private final Optional<ReplicaSync> sync;

    /** {@code sync}: empty: each gateway for itself. */
    public ReplicasResource(Optional<ReplicaSync> sync) {
        this.sync = sync;
    }

    /**
     * This gateway and its peers. Without replicas only {@code object}, {@code sync} and an empty
     * {@code data} are there.
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Replicas(
            String object,
            boolean sync,
            @Nullable String id,
            @Nullable String name,
            @Nullable Boolean connected,
            @Nullable Long maxAgeMs,
            @Nullable Integer openBookings,
            @Nullable Map<String, Long> counts,
            List<Peer> data) {}

    /** {@code ageMs}: since what it has told was true; absent when it has told nothing. */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "ReplicaPeer")
    public record Peer(
            String id,
            String name,
            boolean counted,
            @Nullable Double ageMs,
            double silentMs,
            int openBookings,
            int unknownWorker,
            long lostMessages,
            long resyncs,
            long dropouts) {
        private static Peer of(PeerStatus p) {
            return new Peer(
                    Long.toHexString(p.router()),
                    p.name(),
                    p.counted(),
                    p.ageNanos() == Long.MAX_VALUE ? null : p.ageNanos() / NANOS_PER_MILLI,
                    p.silentNanos() / NANOS_PER_MILLI,
                    p.open(),
                    p.unplaced(),
                    p.lost(),
                    p.resyncs(),
                    p.dropouts());
        }
    }

    @GET
    @Operation(summary = "This gateway and its peers")
    @NonBlocking
    public Replicas all() {
        return sync.map(ReplicasResource::of)
                .orElseGet(
                        () ->
                                new Replicas(
                                        "list", false, null, null, null, null, null, null,
                                        List.of()));
    }

    private static Replicas of(ReplicaSync sync) {
        Map<String, Long> counts = new LinkedHashMap<>();
        for (Count what : Count.values()) {
            counts.put(what.word(), sync.counters().get(what));
        }
        counts.put("dropped", sync.dropped());
        return new Replicas(
                "list",
                true,
                Long.toHexString(sync.options().router()),
                sync.options().name(),
                sync.isUp(),
                sync.options().maxAge().toMillis(),
                sync.announced(),
                counts,
                sync.peers().stream().map(Peer::of).toList());
    }
}
