package io.warmpath.api.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EventTrust;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.answer.StreamMove;
import io.warmpath.routing.BlockWeights;
import io.warmpath.routing.Choice;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.Ineligible;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.OtherCosts;
import io.warmpath.routing.Part;
import io.warmpath.routing.RouterOverrides;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Score;
import io.warmpath.routing.Scores;
import io.warmpath.routing.SharedHits;
import io.warmpath.routing.SharedView;
import io.warmpath.routing.TierBlocks;
import io.warmpath.routing.TransferCost;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A routing decision as JSON, on one line: the one form for dry runs, explained answers and the log
 * of decisions. Workers are named, never addressed. Stateless; O(candidates) when every term was
 * asked for.
 */
public final class DecisionJson {
    private static final JsonFactory JSON = new JsonFactory();

    private static final double NANOS_PER_MILLI = 1e6;

    private DecisionJson() {}

    /** {@code moves}: of the answer to other workers, in their order. */
    public static String of(RoutingDecision decision, List<StreamMove> moves) {
        StringWriter text = new StringWriter(1024);
        try (JsonGenerator json = JSON.createGenerator(text)) {
            write(decision, moves, json);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // writing to memory does not fail
        }
        return text.toString();
    }

    /** Writes one object, wherever the generator stands. */
    public static void write(RoutingDecision decision, JsonGenerator json) throws IOException {
        write(decision, List.of(), json);
    }

    private static void write(RoutingDecision d, List<StreamMove> moves, JsonGenerator json)
            throws IOException {
        RoutingRequest r = d.request();
        json.writeStartObject();
        json.writeStringField("mode", d.mode().flag());
        json.writeStringField("cost_model", d.options().shownCost().flag());
        json.writeStringField("reason", d.reason());
        json.writeNumberField("prompt_tokens", d.guessed() ? 0 : r.promptTokens());
        if (!r.circumstances().prompt().word().isEmpty()) {
            json.writeStringField("tokens", r.circumstances().prompt().word());
        }
        json.writeNumberField("queued_ms", r.circumstances().queuedNanos() / NANOS_PER_MILLI);
        choice(d.choice(), json);
        chosen(d, json);
        otherCost(d, json);
        json.writeNumberField("temperature", d.options().temperature());
        if (d.options().shownCost() == CostKind.BLOCKS) {
            weights(d.options().weights(), json);
        }
        overrides(r.overrides(), json);
        pools(r.shared(), json);
        pins(r, json);
        candidates(d, json);
        json.writeArrayFieldStart("ineligible");
        for (Ineligible i : r.ineligible()) {
            json.writeStartObject();
            json.writeStringField("worker", i.label());
            json.writeStringField("reason", i.reason());
            json.writeEndObject();
        }
        json.writeEndArray();
        moves(moves, json);
        json.writeEndObject();
    }

    private static void moves(List<StreamMove> moves, JsonGenerator json) throws IOException {
        if (moves.isEmpty()) {
            return;
        }
        json.writeArrayFieldStart("moves");
        for (StreamMove m : moves) {
            json.writeStartObject();
            json.writeStringField("from", m.from());
            json.writeStringField("cause", m.cause().name().toLowerCase(Locale.ROOT));
            json.writeNumberField("after_tokens", m.tokens());
            json.writeNumberField("after_ms", m.nanos() / NANOS_PER_MILLI);
            json.writeFieldName("decision");
            write(m.to(), json);
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void choice(Choice c, JsonGenerator json) throws IOException {
        json.writeObjectFieldStart("choice");
        json.writeStringField("rule", c.kind().name().toLowerCase(Locale.ROOT));
        json.writeNumberField("of", c.candidates());
        if (c.ties() > 0) {
            json.writeNumberField("ties", c.ties());
            json.writeNumberField("best", c.best());
            json.writeNumberField("value", c.value());
        }
        if (!Double.isNaN(c.drawn())) {
            json.writeNumberField("drawn", c.drawn());
        }
        json.writeEndObject();
    }

    private static void chosen(RoutingDecision d, JsonGenerator json) throws IOException {
        Score s = d.chosen();
        TierBlocks tiers = s.tiers();
        json.writeObjectFieldStart("chosen");
        worker(s.candidate(), json);
        events(d.events(), json);
        drifted(d.drifted(), json);
        json.writeNumberField("gpu_blocks", tiers.gpu());
        json.writeNumberField("host_blocks", tiers.host());
        json.writeNumberField("disk_blocks", tiers.disk());
        json.writeNumberField("external_blocks", tiers.external());
        if (d.request().shared() != null) {
            json.writeNumberField("shared_blocks", d.sharedBlocks());
        }
        json.writeNumberField("cached_tokens", s.cachedTokens());
        NotExact why = d.notExact();
        if (why != null) {
            json.writeStringField("not_exact", why.label());
        }
        json.writeNumberField("booked_prefill_tokens", s.prefillTokens());
        json.writeNumberField("booked_blocks", d.blocks());
        json.writeNumberField("cost", s.cost());
        transfer(d.request(), s.candidate().worker(), json);
        json.writeEndObject();
    }

    /** What brings the cache of the prompt to a worker that decodes. */
    private static void transfer(RoutingRequest r, Worker to, JsonGenerator json)
            throws IOException {
        if (r.part() == Part.DECODE) {
            TransferCost link = r.transfer();
            json.writeObjectFieldStart("transfer");
            json.writeStringField("within", link.from().shared(to.place()).word());
            json.writeNumberField("gbit_per_second", link.gigabitsPerSecond(to.place()));
            json.writeNumberField("kv_bytes_per_token", link.bytesPerToken());
            json.writeEndObject();
        }
    }

    /** Whom the cost that did not decide would have taken, where it is known. */
    private static void otherCost(RoutingDecision d, JsonGenerator json) throws IOException {
        OtherCosts other = d.compared().other();
        if (other == null) {
            return;
        }
        int chosen = d.choice().index();
        boolean agrees = other.agrees(chosen);
        int taken = agrees ? chosen : other.lowest();
        json.writeObjectFieldStart("other_cost");
        json.writeStringField("name", other.kind().flag());
        json.writeBooleanField("agrees", agrees);
        worker(d.compared().candidate(taken), json);
        json.writeNumberField("cost", other.cost(taken));
        json.writeNumberField("ties", other.ties());
        json.writeEndObject();
    }

    private static void candidates(RoutingDecision d, JsonGenerator json) throws IOException {
        Scores all = d.compared();
        json.writeArrayFieldStart("candidates");
        int compared = 0;
        List<String> reasons = d.ineligible();
        List<EventTrust> events = d.request().circumstances().events();
        for (int i = 0; i < reasons.size(); i++) {
            String why = reasons.get(i);
            json.writeStartObject();
            worker(d.request().candidates().get(i), json);
            events(i < events.size() ? events.get(i) : null, json);
            drifted(d.drifted(d.request().candidates().get(i)), json);
            json.writeBooleanField("eligible", why.isEmpty());
            if (!why.isEmpty()) {
                json.writeStringField("reason", why);
            } else if (compared < all.size()) {
                // The compared ones are those without a reason, in the same order.
                terms(d, compared++, json);
            }
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void terms(RoutingDecision d, int i, JsonGenerator json) throws IOException {
        Scores all = d.compared();
        json.writeNumberField("cost", all.cost(i));
        OtherCosts other = all.other();
        if (other != null) {
            json.writeObjectFieldStart("costs");
            json.writeNumberField(d.options().shownCost().flag(), all.cost(i));
            json.writeNumberField(other.kind().flag(), other.cost(i));
            json.writeEndObject();
        }
        if (all.detailed()) {
            List<Double> terms = all.terms(i);
            json.writeObjectFieldStart("terms");
            for (int t = 0; t < terms.size(); t++) {
                json.writeNumberField(all.names().get(t), terms.get(t));
            }
            json.writeEndObject();
        }
    }

    private static void worker(Candidate c, JsonGenerator json) throws IOException {
        json.writeStringField("worker", c.worker().name());
        json.writeStringField("worker_id", Long.toUnsignedString(c.worker().id()));
        json.writeNumberField("dp_rank", c.dpRank());
    }

    private static void events(@Nullable EventTrust trust, JsonGenerator json) throws IOException {
        if (trust != null) {
            json.writeStringField("events", trust.view().word());
            if (trust.credit() < 1) {
                json.writeNumberField("events_credit", trust.credit());
            }
        }
    }

    private static void drifted(boolean drifted, JsonGenerator json) throws IOException {
        if (drifted) {
            json.writeStringField("tokens", "drifted");
        }
    }

    private static void weights(BlockWeights w, JsonGenerator json) throws IOException {
        json.writeObjectFieldStart("weights");
        json.writeNumberField("overlap_score_credit", w.overlapCredit());
        json.writeNumberField("overlap_score_credit_decay", w.creditDecay());
        json.writeNumberField("prefill_load_scale", w.prefillLoadScale());
        json.writeNumberField("host_cache_hit_weight", w.hostWeight());
        json.writeNumberField("disk_cache_hit_weight", w.diskWeight());
        json.writeNumberField("shared_cache_multiplier", w.sharedMultiplier());
        json.writeStringField("shared_rule", w.sharedRule().name().toLowerCase(Locale.ROOT));
        json.writeNumberField("decode_active_request_weight", w.activeRequestWeight());
        json.writeBooleanField("track_prefill_tokens", w.trackPrefill());
        json.writeEndObject();
    }

    private static void overrides(RouterOverrides o, JsonGenerator json) throws IOException {
        json.writeObjectFieldStart("overrides");
        number("overlap_score_credit", o.overlapScoreCredit(), json);
        number("prefill_load_scale", o.prefillLoadScale(), json);
        number("overlap_score_weight", o.overlapScoreWeight(), json);
        number("shared_cache_multiplier", o.sharedCacheMultiplier(), json);
        number("router_temperature", o.routerTemperature(), json);
        flag("assume_kv_reuse", o.assumeKvReuse(), json);
        flag("track_prefill_tokens", o.trackPrefillTokens(), json);
        json.writeEndObject();
    }

    /** What was asked, what came of it, and which blocks are there. */
    private static void pools(@Nullable SharedView view, JsonGenerator json) throws IOException {
        if (view == null) {
            return;
        }
        json.writeArrayFieldStart("shared_cache");
        for (SharedView.Pool pool : view.pools()) {
            json.writeStartObject();
            json.writeStringField("pool", pool.name());
            json.writeStringField("answer", pool.outcome().name().toLowerCase(Locale.ROOT));
            if (!pool.problem().isEmpty()) {
                json.writeStringField("error", pool.problem());
            }
            SharedHits hits = pool.hits();
            if (hits != null) {
                json.writeNumberField("page_size", hits.blockSize());
                json.writeNumberField("hit_blocks", hits.hitsBeyond(0));
                json.writeArrayFieldStart("ranges");
                for (int bound : hits.bounds()) {
                    json.writeNumber(bound);
                }
                json.writeEndArray();
            }
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void pins(RoutingRequest r, JsonGenerator json) throws IOException {
        json.writeObjectFieldStart("pins");
        if (r.pinnedWorker().isPresent()) {
            json.writeStringField("worker_id", Long.toUnsignedString(r.pinnedWorker().getAsLong()));
        }
        if (r.pinnedRank().isPresent()) {
            json.writeNumberField("dp_rank", r.pinnedRank().getAsInt());
        }
        json.writeEndObject();
    }

    private static void number(String name, @Nullable Double value, JsonGenerator json)
            throws IOException {
        if (value != null) {
            json.writeNumberField(name, value);
        }
    }

    private static void flag(String name, @Nullable Boolean value, JsonGenerator json)
            throws IOException {
        if (value != null) {
            json.writeBooleanField(name, value);
        }
    }
}
