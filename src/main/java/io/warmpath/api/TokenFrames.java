package io.warmpath.api;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.MultiMap;
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
 * number of completion tokens tells how many of them are new, so both are read alike. An answer
 * that is no stream, such as an error, is passed on as it is. One per attempt, on its event loop.
 */
final class TokenFrames implements UpstreamListener {
    private static final byte[] DONE = {'d', 'a', 't', 'a', ':', ' ', '[', 'D', 'O', 'N', 'E', ']'};

    private final String worker;
    private final boolean sglang;
    private final UpstreamListener next;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream(512);
    private final ByteArrayOutputStream data = new ByteArrayOutputStream(512);
    private final ByteArrayOutputStream out = new ByteArrayOutputStream(512);
    private boolean stream;
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
        translate(b, from, length);
        if (out.size() > 0) {
            byte[] frames = taken();
            next.data(frames, 0, frames.length);
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        if (!stream) {
            next.end(b, from, length);
            return;
        }
        translate(b, from, length);
        byte[] frames = taken();
        next.end(frames, 0, frames.length);
    }

    @Override
    public void failed(GatewayError failure) {
        next.failed(failure);
    }

    private byte[] taken() {
        byte[] bytes = out.toByteArray();
        out.reset();
        return bytes;
    }

    private void translate(byte[] b, int from, int length) {
        int start = from;
        for (int i = from; i < from + length; i++) {
            if (b[i] == '\n') {
                line.write(b, start, i - start);
                start = i + 1;
                line();
            }
        }
        line.write(b, start, from + length - start);
    }

    private void line() {
        byte[] text = line.toByteArray();
        line.reset();
        int length = text.length;
        if (length > 0 && text[length - 1] == '\r') {
            length--;
        }
        if (length == 0) {
            if (data.size() > 0 && !done) {
                byte[] event = data.toByteArray();
                data.reset();
                event(event);
            }
        } else if (length >= 5 && Arrays.equals(text, 0, 5, DONE, 0, 5)) {
            int begin = length > 5 && text[5] == ' ' ? 6 : 5;
            if (data.size() > 0) {
                data.write('\n');
            }
            data.write(text, begin, length - begin);
        }
    }

    private void event(byte[] event) {
        if (Arrays.equals(event, 0, event.length, DONE, 6, DONE.length)) {
            done = true;
            out.writeBytes(DONE);
            out.write('\n');
            out.write('\n');
            return;
        }
        forget();
        try (JsonParser json = JacksonReader.parser(event, 0, event.length)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw new IOException("not an object");
            }
            read(json);
        } catch (IOException | GatewayException e) {
            out.writeBytes(
                    ErrorMapper.event(
                            new GatewayError.BadUpstreamAnswer(
                                    worker, "an event that is not a JSON object")));
            return;
        }
        if (error) {
            out.writeBytes(new byte[] {'d', 'a', 't', 'a', ':', ' '});
            out.writeBytes(event);
            out.write('\n');
            out.write('\n');
        } else {
            frame();
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

    private void frame() {
        int fresh = ids.length;
        if (sglang && completionTokens >= 0) {
            fresh = Math.clamp(completionTokens - seen, 0, ids.length);
        }
        seen += fresh;
        // SGLang counts in every event; that is said once, at the end.
        boolean usage = completionTokens >= 0 && (!sglang || finish != null);
        if (fresh == 0 && finish == null && !usage) {
            return;
        }
        int skipped = ids.length - fresh;
        out.writeBytes(new byte[] {'d', 'a', 't', 'a', ':', ' '});
        out.writeBytes(
                DirectJson.object(
                                json -> {
                                    json.writeArrayFieldStart("token_ids");
                                    for (int i = skipped; i < ids.length; i++) {
                                        json.writeNumber(Integer.toUnsignedLong(ids[i]));
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
                                })
                        .getBytes());
        out.write('\n');
        out.write('\n');
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

    /** An object of either engine: members mean the same wherever they stand. */
    private void read(JsonParser json) throws IOException {
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            switch (name) {
                case "error" -> {
                    error |= value != JsonToken.VALUE_NULL;
                    json.skipChildren();
                }
                case "choices" -> choices(json, value);
                case "usage", "meta_info", "prompt_tokens_details" -> {
                    if (value == JsonToken.START_OBJECT) {
                        read(json);
                    }
                }
                case "token_ids", "output_ids" -> {
                    if (value == JsonToken.START_ARRAY) {
                        json.nextToken();
                        ids = PromptReader.ids(name, json);
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
