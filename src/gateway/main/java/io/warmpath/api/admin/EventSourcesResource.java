package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.smallrye.common.annotation.NonBlocking;
import io.warmpath.events.SourceReport;
import io.warmpath.events.SourceStatus;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Supplier;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Where the KV events of each rank stand. */
@Path("/events/sources")
@Produces(MediaType.APPLICATION_JSON)
public class EventSourcesResource {
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Supplier<List<SourceReport>> sources;
    private final InstantSource clock;

    /** {@code sources}: asked for each request; must not wait. */
    public EventSourcesResource(Supplier<List<SourceReport>> sources, InstantSource clock) {
        this.sources = sources;
        this.clock = clock;
    }

    /** {@code endpoint}: absent, with the addresses and {@code counts}: the rank has no source. */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "EventSource")
    public record Source(
            String worker,
            String workerId,
            int dpRank,
            @Nullable String endpoint,
            @Nullable String replayEndpoint,
            @Schema(description = "As in warmpath_events_sources") String state,
            @Schema(description = "Part of what is known of the cache that counts, 0 to 1")
                    double credit,
            @Schema(description = "Why the credit is less than 1") String why,
            @JsonUnwrapped @Nullable Counts counts) {
        private static Source of(SourceReport r, Instant now) {
            return new Source(
                    r.worker(),
                    Long.toUnsignedString(r.workerId()),
                    r.dpRank(),
                    r.endpoint(),
                    r.replayEndpoint(),
                    r.status().state().word(),
                    r.credit(),
                    r.status().why(),
                    r.endpoint() == null ? null : Counts.of(r, now));
        }
    }

    /** What a source has sent, and what became of it. */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Counts(
            String since,
            @Nullable String sequence,
            @Nullable Long lastEventAgeMs,
            long batches,
            long storedBlocks,
            long removedBlocks,
            long offloadedBlocks,
            boolean deviceOnly,
            long duplicates,
            long rejected,
            long gaps,
            long repaired,
            long lost,
            long restarts,
            long replays,
            int owedRequests) {
        private static Counts of(SourceReport r, Instant now) {
            SourceStatus s = r.status();
            return new Counts(
                    now.minusNanos(s.stateNanos()).toString(),
                    s.sequence() == SourceStatus.NO_SEQUENCE
                            ? null
                            : Long.toUnsignedString(s.sequence()),
                    s.batches() > 0 ? s.lastEventNanos() / NANOS_PER_MILLI : null,
                    s.batches(),
                    s.storedBlocks(),
                    s.removedBlocks(),
                    s.offloadedBlocks(),
                    r.deviceOnly(),
                    s.duplicates(),
                    s.rejected(),
                    s.gaps(),
                    s.repaired(),
                    s.lost(),
                    s.restarts(),
                    s.replays(),
                    s.owed());
        }
    }

    @GET
    @Operation(summary = "Where the KV events of each rank stand")
    @NonBlocking
    public AdminList<Source> all() {
        Instant now = clock.instant();
        return new AdminList<>(sources.get().stream().map(r -> Source.of(r, now)).toList());
    }
}
