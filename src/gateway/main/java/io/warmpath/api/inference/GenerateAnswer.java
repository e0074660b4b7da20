package io.warmpath.api.inference;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.json.EventSplitter;
import io.warmpath.api.json.JsonInput;
import io.warmpath.api.json.JsonOutput;
import io.warmpath.api.json.RepeatedJson;
import io.warmpath.api.json.TokenIds;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.request.SessionAppend;
import io.warmpath.upstream.UpstreamListener;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An answer of SGLang's {@code /generate} to a turn of a session, in the form of the chat or
 * completion that the client has asked for. Nothing is passed on before the first event: the engine
 * answers 200 and refuses the session behind that. Text goes from one JSON to the other as it is
 * written. One per attempt, on its event loop.
 */
final class GenerateAnswer implements UpstreamListener {
    private static final int MAX_WHOLE_BYTES = 64 << 20;
    private static final String ABORT = "abort";
    private static final byte[] DONE = {'[', 'D', 'O', 'N', 'E', ']'};

    private final String worker;
    private final Form form;
    private final SessionAppend.Outcome outcome;
    private final UpstreamListener next;
    private final EventSplitter splitter = new EventSplitter(this::event);
    private final RepeatedJson repeated = new RepeatedJson();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream(512);
    private final ByteArrayOutputStream whole = new ByteArrayOutputStream(512);
    private final long created = System.currentTimeMillis() / 1000;
    private MultiMap headers = MultiMap.caseInsensitiveMultiMap();
    private int status;
    private boolean events;
    private boolean begun;
    private boolean over;

    private int[] answer = new int[64];
    private int answered;
    private int written; // bytes of text, where each event repeats it
    private boolean repeats = true;

    private final GenerateMeta meta = new GenerateMeta();
    private boolean problem; // an event was an error

    /** How the client gets it. {@code usage}: an event with the usage ends the stream. */
    record Form(boolean chat, boolean stream, boolean usage, String model) {}

    GenerateAnswer(String worker, Form form, SessionAppend.Outcome outcome, UpstreamListener next) {
        this.worker = worker;
        this.form = form;
        this.outcome = outcome;
        this.next = next;
    }

    @Override
    public void head(int code, MultiMap engineHeaders) {
        status = code;
        headers = MultiMap.caseInsensitiveMultiMap().addAll(engineHeaders);
        headers.remove("content-length");
        String type = headers.get("content-type");
        events = code == 200 && type != null && type.startsWith("text/event-stream");
    }

    @Override
    public void data(byte[] b, int from, int length) {
        if (over) {
            return;
        }
        if (!events) {
            if (whole.size() + length > MAX_WHOLE_BYTES) {
                fail("an answer without an end");
            } else {
                whole.write(b, from, length);
            }
            return;
        }
        splitter.add(b, from, length);
        if (splitter.tooLong() && !over) {
            fail("an event without an end");
        }
        if (!over && out.size() > 0) {
            byte[] bytes = taken();
            next.data(bytes, 0, bytes.length);
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        data(b, from, length);
        if (over) {
            return;
        }
        over = true;
        if (!events) {
            answered(whole.toByteArray());
        } else if (begun) {
            byte[] bytes = taken();
            next.end(bytes, 0, bytes.length);
        } else {
            next.failed(new GatewayError.BadUpstreamAnswer(worker, "an empty stream"));
        }
    }

    @Override
    public void failed(GatewayError error) {
        if (!over) {
            over = true;
            next.failed(error);
        }
    }

    private void fail(String what) {
        over = true;
        next.failed(new GatewayError.BadUpstreamAnswer(worker, what));
    }

    private byte[] taken() {
        byte[] bytes = out.toByteArray();
        out.reset();
        return bytes;
    }

    /** Answers with an error, which the session may be the cause of. */
    private void refuse(int code, byte[] body) {
        over = true;
        String text = new String(body, StandardCharsets.UTF_8);
        if (text.contains("ession")) {
            outcome.refused();
        }
        headers.set("content-type", "application/json");
        next.head(code, headers);
        next.end(body, 0, body.length);
    }

    private void event(byte[] b, int from, int to) {
        if (over) {
            return;
        }
        if (Arrays.equals(b, from, to, DONE, 0, DONE.length)) {
            send(DONE);
            return;
        }
        try {
            meta.finish = null;
            repeated.read(b, from, to, this::member);
            if (problem) {
                byte[] error = Arrays.copyOfRange(b, from, to);
                if (begun) {
                    send(error);
                } else {
                    refuse(400, error);
                }
                return;
            }
            if (ABORT.equals(meta.finish)) {
                aborted();
            } else {
                token(b);
            }
        } catch (IOException e) {
            fail("an event that is not a JSON object");
        }
    }

    /** The engine answers 200 before it looks for the session. */
    private void aborted() {
        byte[] error =
                JsonOutput.object(
                                json -> {
                                    json.writeObjectFieldStart("error");
                                    json.writeStringField("message", meta.abort);
                                    json.writeStringField("type", "upstream_error");
                                    json.writeNullField("param");
                                    json.writeNumberField("code", meta.abortStatus);
                                    json.writeEndObject();
                                })
                        .getBytes();
        if (begun) {
            send(error);
        } else {
            refuse(Math.clamp(meta.abortStatus, 400, 599), error);
        }
    }

    private void token(byte[] b) throws IOException {
        int reported = repeated.ids();
        // The first event with fewer ids than there are shows that they are not repeated.
        repeats &= reported >= meta.completionTokens;
        int fresh = repeats ? reported - answered : reported;
        add(repeated.newest(Math.max(0, fresh)));
        int skip = repeats ? Math.min(written, repeated.textLength()) : 0;
        int start = repeated.textFrom() + skip;
        int end = repeated.textFrom() + repeated.textLength();
        written = repeats ? repeated.textLength() : 0;
        if (!begun) {
            begun = true;
            next.head(status, headers);
            if (form.chat()) {
                chunk("\"delta\":{\"role\":\"assistant\",\"content\":\"\"}", b, 0, 0, null);
            }
        }
        String ends = meta.finish;
        if (end > start || ends == null) {
            chunk(form.chat() ? null : "", b, start, end, null);
        }
        if (ends != null) {
            chunk(form.chat() ? "\"delta\":{}" : "\"text\":\"\"", b, 0, 0, ends);
            settle(ends);
            if (form.usage()) {
                send(JsonOutput.object(this::usageEvent).getBytes());
            }
        }
    }

    private void settle(String ends) {
        if (!ends.equals(ABORT)) {
            outcome.answered(
                    meta.promptTokens, Arrays.copyOf(answer, answered), meta.completionTokens);
        }
    }

    private void add(int[] ids) {
        if (answered + ids.length > answer.length) {
            answer = Arrays.copyOf(answer, Math.max(answered + ids.length, 2 * answer.length));
        }
        System.arraycopy(ids, 0, answer, answered, ids.length);
        answered += ids.length;
    }

    private void send(byte[] data) {
        out.writeBytes(new byte[] {'d', 'a', 't', 'a', ':', ' '});
        out.writeBytes(data);
        out.writeBytes(new byte[] {'\n', '\n'});
    }

    /**
     * @param said the choice's member; empty or null: the text between {@code from} and {@code to}
     */
    private void chunk(@Nullable String said, byte[] b, int from, int to, @Nullable String ends) {
        byte[] front = JsonOutput.object(this::head).getBytes();
        out.writeBytes(new byte[] {'d', 'a', 't', 'a', ':', ' '});
        out.write(front, 0, front.length - 1);
        print(",\"choices\":[{\"index\":0,");
        if (said != null && !said.isEmpty()) {
            print(said);
        } else {
            print(form.chat() ? "\"delta\":{\"content\":\"" : "\"text\":\"");
            out.write(b, from, to - from);
            print(form.chat() ? "\"}" : "\"");
        }
        print(",\"logprobs\":null,\"finish_reason\":");
        print(ends == null ? "null" : '"' + ends + '"');
        print("}]}\n\n");
    }

    private void print(String ascii) {
        out.writeBytes(ascii.getBytes(StandardCharsets.US_ASCII));
    }

    private void head(JsonGenerator json) throws IOException {
        json.writeStringField("id", (form.chat() ? "chatcmpl-" : "cmpl-") + meta.id);
        String kind = form.chat() ? "chat.completion" : "text_completion";
        json.writeStringField("object", form.chat() && form.stream() ? kind + ".chunk" : kind);
        json.writeNumberField("created", created);
        json.writeStringField("model", form.model());
    }

    private void usageEvent(JsonGenerator json) throws IOException {
        head(json);
        json.writeArrayFieldStart("choices");
        json.writeEndArray();
        usage(json);
    }

    private void usage(JsonGenerator json) throws IOException {
        json.writeObjectFieldStart("usage");
        json.writeNumberField("prompt_tokens", Math.max(0, meta.promptTokens));
        json.writeNumberField(
                "total_tokens", Math.max(0, meta.promptTokens) + meta.completionTokens);
        json.writeNumberField("completion_tokens", meta.completionTokens);
        if (meta.cachedTokens >= 0) {
            json.writeObjectFieldStart("prompt_tokens_details");
            json.writeNumberField("cached_tokens", meta.cachedTokens);
            json.writeEndObject();
        }
        json.writeEndObject();
    }

    /** Of an event, beside text and ids. */
    private void member(String name, byte[] b, int from, int to) throws IOException {
        if (name.equals("error") && b[from] != 'n') {
            problem = true;
        } else if (name.equals("meta_info")) {
            try (JsonParser json = JsonInput.parser(b, from, to - from)) {
                json.nextToken();
                meta.read(json);
            }
        }
    }

    /** A whole answer, or an error. */
    private void answered(byte[] document) {
        if (status != 200) {
            refuse(status, document);
            return;
        }
        String text = null;
        try (JsonParser json = JsonInput.parser(document, 0, document.length)) {
            json.nextToken();
            for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
                JsonToken value = json.nextToken();
                switch (name) {
                    case "text" -> text = json.getText();
                    case "output_ids" -> {
                        if (value == JsonToken.START_ARRAY) {
                            json.nextToken();
                            add(TokenIds.read(name, json));
                        }
                    }
                    case "meta_info" -> meta.read(json);
                    default -> json.skipChildren();
                }
            }
        } catch (IOException e) {
            text = null;
        }
        String said = text;
        String ends = meta.finish;
        if (said == null || ends == null) {
            next.failed(
                    new GatewayError.BadUpstreamAnswer(worker, "an answer that is not finished"));
            return;
        }
        settle(ends);
        Buffer body =
                JsonOutput.object(
                        json -> {
                            head(json);
                            choice(said, ends, json);
                            usage(json);
                        });
        next.head(status, headers);
        next.end(body.getBytes(), 0, body.length());
    }

    private void choice(String said, String ends, JsonGenerator json) throws IOException {
        json.writeArrayFieldStart("choices");
        json.writeStartObject();
        json.writeNumberField("index", 0);
        if (form.chat()) {
            json.writeObjectFieldStart("message");
            json.writeStringField("role", "assistant");
            json.writeStringField("content", said);
            json.writeEndObject();
        } else {
            json.writeStringField("text", said);
        }
        json.writeNullField("logprobs");
        json.writeStringField("finish_reason", ends);
        json.writeEndObject();
        json.writeEndArray();
    }
}
