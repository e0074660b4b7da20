package io.warmpath.api.direct;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.MultiMap;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.api.json.EventSplitter;
import io.warmpath.api.json.JsonInput;
import io.warmpath.api.json.JsonOutput;
import io.warmpath.api.json.RepeatedJson;
import io.warmpath.api.json.TokenIds;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.upstream.UpstreamListener;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An engine's stream of events as frames of token ids: {@code data: {"token_ids":[..]}}, the last
 * ones with {@code finish_reason}, {@code stop_reason} and {@code usage}, then {@code [DONE]}.
 *
 * <p>SGLang repeats in each event all ids so far unless it is started to stream increments; the
 * number of completion tokens tells how many of them are new, so both are read alike ({@link
 * RepeatedJson}). An answer that is no stream, such as an error, is passed on as it is. One per
 * attempt, on its event loop.
 */
final class TokenFrames implements UpstreamListener {
    private static final byte[] DATA = {'d', 'a', 't', 'a', ':', ' '};
    private static final byte[] DONE = {'[', 'D', 'O', 'N', 'E', ']'};
    private static final byte[] END = {'\n', '\n'};

    private final String worker;
    private final boolean sglang;
    private final UpstreamListener next;
    private final EventSplitter splitter = new EventSplitter(this::event);
    private final RepeatedJson repeated = new RepeatedJson();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream(512);
    private boolean stream;
    private boolean over; // the client has been told that it failed
    private boolean done;
    private long seen;

    // The event being read.
    private int[] ids = {};
    private @Nullable String finish;
    private @Nullable String stopText;
    private @Nullable Long stopToken;
    private long promptTokens;
    private long completionTokens;
    private long cachedTokens;
    private boolean error;

    TokenFrames(String worker, boolean sglang, UpstreamListener next) {
        this.worker = worker;
        this.sglang = sglang;
        this.next = next;
    }

    @Override
    public void head(int status, MultiMap headers) {
        String type = headers.get("content-type");
        stream =
                status == 200
                        && type != null
                        && type.regionMatches(true, 0, "text/event-stream", 0, 17)
                        && !headers.contains("content-encoding");
        next.head(status, headers);
    }

    @Override
    public void data(byte[] b, int from, int length) {
        if (!stream) {
            next.data(b, from, length);
            return;
        }
        add(b, from, length);
        if (!over && out.size() > 0) {
            byte[] frames = taken();
            next.data(frames, 0, frames.length);
        }
    }

    private void add(byte[] b, int from, int length) {
        splitter.add(b, from, length);
        if (splitter.tooLong() && !over) {
            over = true;
            next.failed(new GatewayError.BadUpstreamAnswer(worker, "an event without an end"));
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        if (!stream) {
            next.end(b, from, length);
            return;
        }
        add(b, from, length);
        if (!over) {
            byte[] frames = taken();
            next.end(frames, 0, frames.length);
        }
    }

    @Override
    public void failed(GatewayError failure) {
        if (!over) {
            next.failed(failure);
        }
    }

    private byte[] taken() {
        byte[] bytes = out.toByteArray();
        out.reset();
        return bytes;
    }

    private void event(byte[] b, int from, int to) {
        if (done) {
            return;
        }
        if (Arrays.equals(b, from, to, DONE, 0, DONE.length)) {
            done = true;
            send(DONE);
            return;
        }
        forget();
        try {
            if (sglang) {
                repeated.read(b, from, to, this::member);
            } else {
                object(b, from, to);
            }
            if (error) {
                send(Arrays.copyOfRange(b, from, to));
            } else {
                frame();
            }
        } catch (IOException | GatewayException e) {
            out.writeBytes(
                    ErrorMapper.event(
                            new GatewayError.BadUpstreamAnswer(
                                    worker, "an event that is not a JSON object")));
        }
    }

    private void send(byte[] data) {
        out.writeBytes(DATA);
        out.writeBytes(data);
        out.writeBytes(END);
    }

    /** Of SGLang's object. */
    private void member(String name, byte[] b, int from, int to) throws IOException {
        switch (name) {
            case "meta_info" -> object(b, from, to);
            case "error" -> error |= b[from] != 'n'; // null
            default -> {}
        }
    }

    private void object(byte[] b, int from, int to) throws IOException {
        try (JsonParser json = JsonInput.parser(b, from, to - from)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw new IOException("not an object");
            }
            read(json);
        }
    }

    private void forget() {
        ids = new int[0];
        finish = null;
        stopText = null;
        stopToken = null;
        promptTokens = -1;
        completionTokens = -1;
        cachedTokens = -1;
        error = false;
    }

    private void frame() throws IOException {
        int[] fresh = ids;
        if (sglang) {
            int reported = repeated.ids();
            fresh =
                    repeated.newest(
                            completionTokens < 0
                                    ? reported
                                    : Math.clamp(completionTokens - seen, 0, reported));
        }
        seen += fresh.length;
        // SGLang counts in every event; that is said once, at the end.
        boolean usage = completionTokens >= 0 && (!sglang || finish != null);
        if (fresh.length > 0 || finish != null || usage) {
            int[] frame = fresh;
            send(JsonOutput.object(json -> frame(frame, usage, json)).getBytes());
        }
    }

    private void frame(int[] fresh, boolean usage, JsonGenerator json) throws IOException {
        json.writeArrayFieldStart("token_ids");
        for (int id : fresh) {
            json.writeNumber(Integer.toUnsignedLong(id));
        }
        json.writeEndArray();
        if (finish != null) {
            json.writeStringField("finish_reason", finish);
        }
        if (stopToken != null) {
            json.writeNumberField("stop_reason", stopToken);
        } else if (stopText != null) {
            json.writeStringField("stop_reason", stopText);
        }
        if (usage) {
            usage(json);
        }
    }

    private void usage(JsonGenerator json) throws IOException {
        json.writeObjectFieldStart("usage");
        json.writeNumberField("prompt_tokens", Math.max(0, promptTokens));
        json.writeNumberField("completion_tokens", completionTokens);
        json.writeNumberField("total_tokens", Math.max(0, promptTokens) + completionTokens);
        if (cachedTokens >= 0) {
            json.writeObjectFieldStart("prompt_tokens_details");
            json.writeNumberField("cached_tokens", cachedTokens);
            json.writeEndObject();
        }
        json.writeEndObject();
    }

    /** An object of vLLM, or SGLang's meta_info: members mean the same wherever they stand. */
    private void read(JsonParser json) throws IOException {
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            switch (name) {
                case "error" -> {
                    error |= value != JsonToken.VALUE_NULL;
                    json.skipChildren();
                }
                case "choices" -> choices(json, value);
                case "usage", "prompt_tokens_details" -> {
                    if (value == JsonToken.START_OBJECT) {
                        read(json);
                    }
                }
                case "token_ids" -> {
                    if (value == JsonToken.START_ARRAY) {
                        json.nextToken();
                        ids = TokenIds.read(name, json);
                    }
                }
                case "finish_reason" -> finishReason(json, value);
                case "stop_reason", "matched" -> stopReason(json, value);
                case "prompt_tokens" -> promptTokens = number(json, value);
                case "completion_tokens" -> completionTokens = number(json, value);
                case "cached_tokens" -> cachedTokens = number(json, value);
                default -> json.skipChildren();
            }
        }
    }

    private void choices(JsonParser json, JsonToken value) throws IOException {
        if (value == JsonToken.START_ARRAY) {
            while (json.nextToken() == JsonToken.START_OBJECT) {
                read(json);
            }
        }
    }

    /** vLLM: a word. SGLang: an object with the word as its type. */
    private void finishReason(JsonParser json, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_STRING) {
            finish = json.getText();
        } else if (value == JsonToken.START_OBJECT) {
            for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
                JsonToken member = json.nextToken();
                if (name.equals("type") && member == JsonToken.VALUE_STRING) {
                    finish = json.getText();
                } else if (name.equals("matched")) {
                    stopReason(json, member);
                } else {
                    json.skipChildren();
                }
            }
        }
    }

    private void stopReason(JsonParser json, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_STRING) {
            stopText = json.getText();
        } else if (value == JsonToken.VALUE_NUMBER_INT) {
            stopToken = json.getLongValue();
        } else {
            json.skipChildren();
        }
    }

    private static long number(JsonParser json, JsonToken value) throws IOException {
        json.skipChildren();
        return value == JsonToken.VALUE_NUMBER_INT ? json.getLongValue() : -1;
    }
}
