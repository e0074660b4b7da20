package io.warmpath.api.admin;

import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.UniEmitter;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.events.PostedFeed;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.jspecify.annotations.Nullable;

/**
 * KV events of engines that publish none. Reading and applying them is the feed's thread's, which
 * gives the answer.
 */
@Path("/events")
@Produces(MediaType.APPLICATION_JSON)
public class EventsResource {
    private static final int MAX_BODY_BYTES = 8 << 20;
    private static final Duration BUSY = Duration.ofSeconds(1);
    private static final GatewayError TOO_LARGE =
            new GatewayError.BadRequest(
                    "",
                    "The body is larger than "
                            + MAX_BODY_BYTES
                            + " bytes; post its events in several batches.");

    /**
     * Four of the largest, fewer where the heap is small: what is read of one takes more than it.
     */
    private static final long TOGETHER_BYTES =
            Math.clamp(Runtime.getRuntime().maxMemory() / 16, MAX_BODY_BYTES, 4L * MAX_BODY_BYTES);

    private final OperatorBodies bodies = new OperatorBodies(TOGETHER_BYTES);

    private final Optional<PostedFeed> feed;

    /** {@code feed}: empty: this gateway follows no events. */
    public EventsResource(Optional<PostedFeed> feed) {
        this.feed = feed;
    }

    /**
     * @param nextSequence the number that the next batch must have
     * @param repeated the batch was known
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "EventsTaken")
    public record Taken(long nextSequence, boolean repeated, String state) {
        private static Taken of(PostedFeed.Taken taken) {
            return new Taken(taken.next(), taken.repeated(), taken.state().word());
        }
    }

    @POST
    @Operation(
            summary = "Applies KV events of an engine that publishes none",
            description = "All of a body or nothing of it; at most 8 MiB and 1,500,000 values.")
    @RequestBody(
            required = true,
            content = {
                @Content(mediaType = "application/json", schema = @Schema(ref = "PostedEvents")),
                @Content(mediaType = "application/msgpack", schema = @Schema(ref = "PostedEvents"))
            })
    @APIResponse(
            responseCode = "200",
            description = "Applied, or known already",
            content =
                    @Content(
                            mediaType = "application/json",
                            schema = @Schema(implementation = Taken.class)))
    @APIResponse(
            responseCode = "409",
            description = "Not the batch that must follow",
            content =
                    @Content(mediaType = "application/json", schema = @Schema(ref = "OutOfOrder")))
    @Blocking
    public Uni<Taken> post(
            @Parameter(hidden = true) @HeaderParam("content-type") @Nullable String type,
            @Parameter(hidden = true) @HeaderParam("content-length") @Nullable String length,
            InputStream events)
            throws IOException {
        PostedFeed to =
                feed.orElseThrow(
                        () ->
                                InvalidRequest.bad(
                                        "",
                                        "This gateway follows no KV events; see use-kv-events."));
        PostedReader reader = reader(type);
        // What waits for the feed is within a bound of the feed's own.
        byte[] body = bodies.read(events, length, MAX_BODY_BYTES, TOO_LARGE, whole -> whole);
        return Uni.createFrom().emitter(answer -> hand(to, body, reader, answer));
    }

    private static void hand(
            PostedFeed feed, byte[] body, PostedReader reader, UniEmitter<? super Taken> answer) {
        boolean handed =
                feed.post(
                        body,
                        reader::read,
                        taken -> answer.complete(Taken.of(taken)),
                        answer::fail);
        if (!handed) {
            answer.fail(
                    new GatewayException(
                            new GatewayError.Overloaded(
                                    429, "Too many posted events wait to be applied", BUSY)));
        }
    }

    private static PostedReader reader(@Nullable String type) {
        String media = type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
        return switch (media) {
            case "", "application/json" -> PostedReader.JSON;
            case "application/msgpack", "application/x-msgpack", "application/vnd.msgpack" ->
                    PostedReader.MSGPACK;
            default ->
                    throw InvalidRequest.bad(
                            "",
                            "Content-Type `"
                                    + media
                                    + "` is not known here; known are application/json and"
                                    + " application/msgpack.");
        };
    }
}
