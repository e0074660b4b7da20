package io.warmpath.sim;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.sim.engine.Sequence;
import io.warmpath.sim.http.SimExchange;
import io.warmpath.sim.model.AnswerWriter;
import java.time.Instant;
import java.time.InstantSource;

/**
 * One answer of SGLang's {@code /generate}, 0.5.23: each event repeats all text and ids so far, or,
 * from an engine that is started so, tells the new ones only. Engine's thread only.
 */
final class GenerateStream implements Sequence.Listener {
    private final SimExchange exchange;
    private final EventWriter events;
    private final InstantSource clock;
    private final AnswerWriter writer;
    private final CompletionRequest request;
    private final Asked asked;
    private final Stops.Ending ending;
    private final int[] answer;
    private final Instant received;
    private final StringBuilder text = new StringBuilder();
    private final StringBuilder ids = new StringBuilder();
    private Instant prefilled;
    private int cachedTokens;
    private int hostTokens;

    /**
     * What is repeated in each event.
     *
     * @param rank null with one rank
     * @param increments events tell what is new only
     * @param toldLength of an answer that ended by its length; 0 from an engine that prefills
     */
    record Asked(String id, int promptTokens, String rank, boolean increments, int toldLength) {}

    GenerateStream(
            SimExchange exchange,
            EventWriter events,
            InstantSource clock,
            AnswerWriter writer,
            CompletionRequest request,
            Asked asked,
            int[] answer,
            Stops.Ending ending) {
        this.exchange = exchange;
        this.events = events;
        this.clock = clock;
        this.writer = writer;
        this.request = request;
        this.asked = asked;
        this.answer = answer;
        this.ending = ending;
        this.received = clock.instant();
        this.prefilled = received;
    }

    @Override
    public void started(int cached, int fromHost) {
        cachedTokens = cached;
        hostTokens = fromHost;
        prefilled = clock.instant();
        if (request.stream()) {
            exchange.beginStream();
        }
    }

    @Override
    public void token(int index) {
        int said = asked.increments() ? Math.min(text.length(), ending.characters()) : 0;
        if (asked.increments()) {
            ids.setLength(0);
        }
        text.append(writer.piece(answer[index]));
        ids.append(ids.isEmpty() ? "" : ",").append(Integer.toUnsignedString(answer[index]));
        if (request.stream()) {
            events.send(frame(said, index + 1));
        }
    }

    @Override
    public void finished() {
        if (request.stream()) {
            events.send("[DONE]");
            events.end();
        } else {
            events.whole(frame(0, answer.length));
        }
    }

    private String frame(int said, int tokens) {
        String visible = text.substring(said, Math.min(text.length(), ending.characters()));
        StringBuilder json = new StringBuilder(visible.length() + ids.length() + 768);
        json.append("{\"text\":").append(AnswerShape.quoted(visible));
        json.append(",\"output_ids\":[").append(ids).append("],\"meta_info\":{\"id\":");
        json.append(AnswerShape.quoted(asked.id())).append(",\"finish_reason\":");
        boolean last = tokens == answer.length;
        json.append(last ? reason() : "null");
        json.append(",\"prompt_tokens\":").append(asked.promptTokens());
        json.append(
                ",\"weight_version\":\"default\",\"num_retractions\":0,"
                        + "\"storage_prefetch_wait\":0.0,\"storage_staging_wait\":0.0");
        time(json, "forward_entry_time", received);
        time(json, "prefill_finished_time", prefilled);
        json.append(",\"queue_time\":0.0,\"reasoning_tokens\":0,\"completion_tokens\":");
        json.append(tokens).append(",\"cached_tokens\":").append(cachedTokens);
        if (last) {
            json.append(",\"weight_versions\":[{\"version\":\"default\",\"start\":0,\"end\":");
            json.append(tokens).append("}]");
        }
        json.append(",\"cached_tokens_details\":").append(details());
        json.append(",\"dp_rank\":").append(asked.rank());
        if (last) {
            Instant now = clock.instant();
            json.append(",\"e2e_latency\":").append(seconds(received, now));
            time(json, "request_received_ts", received);
            json.append(",\"first_token_latency\":").append(seconds(received, prefilled));
            time(json, "api_server_dispatch_finish_ts", received);
            time(json, "response_sent_to_client_ts", prefilled);
            time(json, "request_finished_ts", now);
            json.append(",\"decode_throughput\":");
            json.append(tokens / Math.max(1e-6, seconds(prefilled, now)));
        } else if (tokens == 1) {
            time(json, "response_sent_to_client_ts", prefilled);
        }
        return json.append("}}").toString();
    }

    private String reason() {
        return ending.finish() == AnswerShape.Finish.STOP
                ? "{\"type\":\"stop\",\"matched\":" + ending.matched() + "}"
                : "{\"type\":\"length\",\"length\":" + asked.toldLength() + "}";
    }

    private String details() {
        return cachedTokens == 0
                ? "null"
                : "{\"device\":" + (cachedTokens - hostTokens) + ",\"host\":" + hostTokens + "}";
    }

    private static void time(StringBuilder json, String name, Instant at) {
        json.append(",\"").append(name).append("\":");
        json.append(plain("%.6f", at.toEpochMilli() / 1e3));
    }

    private static double seconds(Instant from, Instant to) {
        return (to.toEpochMilli() - from.toEpochMilli()) / 1e3;
    }
}
