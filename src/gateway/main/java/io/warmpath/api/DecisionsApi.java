package io.warmpath.api;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.api.hints.OverrideReader;
import io.warmpath.api.json.DecisionJson;
import io.warmpath.api.json.JsonInput;
import io.warmpath.api.json.JsonOutput;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.DecisionLog.Ended;
import io.warmpath.gateway.observe.DecisionLog.Logged;
import io.warmpath.load.PromptBlocks;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.Replay;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOverrides;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.Score;
import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /router/decisions}: the last decisions. {@code POST /router/replay}: what another
 * policy would have chosen for them.
 *
 * <p>For admins: both tell of other callers' requests. Requests are taken on the event loop; both
 * answers are made on Vert.x's workers.
 */
public final class DecisionsApi {
    private static final Logger LOG = Logger.getLogger(DecisionsApi.class);

    /** Before the routes of the runtime, like all of ours. */
    private static final int FIRST = -1000;

    private static final HexFormat HEX = HexFormat.of();
    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_BODY_BYTES = 64 << 10;

    /** Changes that are listed one by one. */
    private static final int LISTED = 100;

    private final DecisionLog log;
    private final AdminAccess access;

    public DecisionsApi(DecisionLog log, AdminAccess access) {
        this.log = log;
        this.access = access;
    }

    /** One decision as one line, without the line's end. Any thread. */
    public static byte[] line(Logged logged) {
        return JsonOutput.object(
                        json -> {
                            members(logged, json);
                            prompt(logged.decision(), json);
                        })
                .getBytes();
    }

    /** How one ended, as {@link #line(Logged)}. */
    public static byte[] line(Ended end) {
        return JsonOutput.object(
                        json -> {
                            json.writeNumberField("ended", end.number());
                            json.writeStringField("time", end.at().toString());
                            json.writeNumberField("status", end.ending().status());
                            known("prompt_tokens", end.ending().promptTokens(), json);
                            known("output_tokens", end.ending().outputTokens(), json);
                            known("cached_tokens", end.ending().cachedTokens(), json);
                            millis("first_token_ms", end.ending().firstTokenNanos(), json);
                            millis("total_ms", end.ending().nanos(), json);
                        })
                .getBytes();
    }

    private static void known(String name, long value, JsonGenerator json) throws IOException {
        if (value >= 0) {
            json.writeNumberField(name, value);
        }
    }

    private static void millis(String name, long nanos, JsonGenerator json) throws IOException {
        if (nanos >= 0) {
            json.writeNumberField(name, nanos / 1e6);
        }
    }

    /**
     * What the prompt shares with others: half of each block's name, which is enough among the
     * blocks that can follow one block. Without the process' secret nothing of the prompt is in it.
     */
    private static void prompt(RoutingDecision decision, JsonGenerator json) throws IOException {
        int blockSize = decision.chosen().candidate().worker().blockSize();
        for (PromptBlocks named : decision.request().prompts()) {
            if (named.blockSize() == blockSize && named.chain().length > 0) {
                json.writeNumberField("block_tokens", blockSize);
                StringBuilder names = new StringBuilder(8 * named.chain().length);
                for (long name : named.chain()) {
                    names.append(HEX.toHexDigits((int) name));
                }
                json.writeStringField("prompt_blocks", names.toString());
            }
        }
    }

    public void mount(Router router) {
        router.route("/router/decisions").order(FIRST).handler(rc -> on(HttpMethod.GET, rc));
        router.route("/router/replay").order(FIRST).handler(rc -> on(HttpMethod.POST, rc));
    }

    private void on(HttpMethod method, RoutingContext rc) {
        if (!access.admits(rc, method.name())) {
            return;
        }
        HttpServerRequest request = rc.request();
        if (method.equals(HttpMethod.GET)) {
            request.resume(); // Quarkus hands requests over paused
            answer(rc, () -> decisions(limit(request.getParam("limit"))));
        } else {
            Buffer body = Buffer.buffer();
            request.handler(
                    chunk -> {
                        if (body.length() <= MAX_BODY_BYTES) {
                            body.appendBuffer(chunk);
                        }
                    });
            request.endHandler(end -> answer(rc, () -> replay(body)));
            request.resume();
        }
    }

    private static int limit(@Nullable String given) {
        if (given == null) {
            return DEFAULT_LIMIT;
        }
        try {
            int limit = Integer.parseInt(given);
            if (limit > 0) {
                return limit;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw InvalidRequest.bad("limit", "`limit` must be an integer of 1 or more.");
    }

    private Buffer decisions(int limit) {
        List<Logged> latest = log.latest(limit);
        return JsonOutput.object(
                json -> {
                    json.writeBooleanField("enabled", log.isOn());
                    json.writeArrayFieldStart("decisions");
                    for (Logged logged : latest.reversed()) {
                        json.writeStartObject();
                        members(logged, json);
                        json.writeEndObject();
                    }
                    json.writeEndArray();
                });
    }

    private static void members(Logged logged, JsonGenerator json) throws IOException {
        json.writeNumberField("number", logged.number());
        json.writeStringField("time", logged.at().toString());
        json.writeStringField("request_id", logged.requestId());
        if (!logged.session().isEmpty()) {
            json.writeStringField("session", logged.session());
        }
        json.writeStringField("model", logged.model());
        json.writeFieldName("decision");
        DecisionJson.write(logged.decision(), json);
    }

    /** What a replay is asked for. */
    private static final class Asked {
        @Nullable RouterMode mode;
        @Nullable CostKind cost;
        RouterOverrides overrides = RouterOverrides.NONE;
        int limit = Integer.MAX_VALUE;
        long seed;
    }

    private Buffer replay(Buffer body) {
        if (body.length() > MAX_BODY_BYTES) {
            throw new GatewayException(new GatewayError.BodyTooLarge(MAX_BODY_BYTES));
        }
        Asked asked = asked(body);
        List<Logged> logged = log.latest(asked.limit);
        Random random = new Random(asked.seed);
        Replay.Outcome outcome =
                Replay.run(
                        logged.stream().map(Logged::decision).toList(),
                        new Replay.Policy(asked.mode, asked.cost, asked.overrides),
                        () -> random);
        return JsonOutput.object(json -> outcome(outcome, logged, json));
    }

    private static Asked asked(Buffer body) {
        byte[] bytes = body.getBytes();
        Asked asked = new Asked();
        try (JsonParser json = JsonInput.parser(bytes, 0, bytes.length)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw InvalidRequest.bad("", "The request body must be a JSON object.");
            }
            for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
                member(name, json, asked);
            }
            return asked;
        } catch (JsonProcessingException e) {
            throw InvalidRequest.notJson(e);
        } catch (IOException e) {
            throw InvalidRequest.bad("", "The request body cannot be read: " + e.getMessage());
        }
    }

    private static void member(String name, JsonParser json, Asked into) throws IOException {
        json.nextToken();
        switch (name) {
            case "mode" -> into.mode = mode(json.getText());
            case "cost" -> into.cost = cost(json.getText());
            case "router_config_override" -> into.overrides = OverrideReader.read(name, json, true);
            case "limit" ->
                    into.limit =
                            (int) Math.max(1, OverrideReader.number(name, json, Integer.MAX_VALUE));
            case "seed" -> into.seed = (long) OverrideReader.number(name, json, 1L << 53);
            default -> throw InvalidRequest.unknown(name);
        }
    }

    private static CostKind cost(String flag) {
        for (CostKind cost : CostKind.values()) {
            if (cost.flag().equals(flag)) {
                return cost;
            }
        }
        throw InvalidRequest.bad("cost", "`cost` must be blocks or latency.");
    }

    private static RouterMode mode(String flag) {
        for (RouterMode mode : RouterMode.values()) {
            if (mode.flag().equals(flag) && mode != RouterMode.DIRECT) {
                return mode;
            }
        }
        throw InvalidRequest.bad(
                "mode",
                "`mode` must be kv, random, round-robin, power-of-two, least-loaded or"
                        + " vllm-cache-aware.");
    }

    private static void outcome(Replay.Outcome o, List<Logged> logged, JsonGenerator json)
            throws IOException {
        json.writeNumberField("decisions", o.replayed());
        json.writeNumberField("skipped", o.skipped());
        json.writeNumberField("changed", o.changes().size());
        json.writeNumberField("indifferent", o.indifferent());
        both("predicted_cached_tokens", o.wasCachedTokens(), o.wouldCachedTokens(), json);
        both("prefill_tokens", o.wasPrefillTokens(), o.wouldPrefillTokens(), json);
        json.writeArrayFieldStart("changes");
        for (Replay.Change c : o.changes().subList(0, Math.min(LISTED, o.changes().size()))) {
            json.writeStartObject();
            json.writeNumberField("number", logged.get(c.index()).number());
            json.writeStringField("request_id", logged.get(c.index()).requestId());
            choice("was", c.was(), json);
            choice("would", c.would(), json);
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void both(String name, long was, long would, JsonGenerator json)
            throws IOException {
        json.writeObjectFieldStart(name);
        json.writeNumberField("was", was);
        json.writeNumberField("would", would);
        json.writeEndObject();
    }

    private static void choice(String name, Score s, JsonGenerator json) throws IOException {
        json.writeObjectFieldStart(name);
        json.writeStringField("worker", s.candidate().worker().name());
        json.writeNumberField("dp_rank", s.candidate().dpRank());
        json.writeNumberField("cached_tokens", s.cachedTokens());
        json.writeEndObject();
    }

    private static void answer(RoutingContext rc, Callable<Buffer> make) {
        rc.vertx()
                .executeBlocking(make, false)
                .onSuccess(
                        body -> {
                            HttpServerResponse response = rc.response();
                            if (!response.ended() && !response.closed()) {
                                response.putHeader("content-type", "application/json").end(body);
                            }
                        })
                .onFailure(
                        failure -> {
                            if (failure instanceof GatewayException e) {
                                fail(rc, e.error());
                            } else {
                                LOG.errorf(failure, "%s failed", rc.normalizedPath());
                                fail(rc, new GatewayError.Internal("admin"));
                            }
                        });
    }

    private static void fail(RoutingContext rc, GatewayError error) {
        rc.request().resume();
        ErrorMapper.respond(rc.response(), error, "admin");
    }
}
