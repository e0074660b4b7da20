package io.warmpath.capture;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.prefix.MediaIds;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Reads a capture: one JSON object a line, its kind in {@code k}. Kinds it does not know are passed
 * over. One thread.
 */
final class CaptureReader {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final String name;
    private final List<Capture.Line> lines = new ArrayList<>();
    private final Map<String, int[]> promptOfAnswer = new HashMap<>();
    private @Nullable JsonNode meta;

    private CaptureReader(String name) {
        this.name = name;
    }

    static Capture read(Path file) throws CaptureException {
        Path fileName = file.getFileName();
        CaptureReader reader = new CaptureReader(fileName == null ? "" : fileName.toString());
        int number = 0;
        try (BufferedReader in = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            for (String text = in.readLine(); text != null; text = in.readLine()) {
                number++;
                if (!text.isBlank()) {
                    reader.line(text);
                }
            }
        } catch (NoSuchFileException e) {
            throw new CaptureException(file + ": no such file", e);
        } catch (JsonProcessingException e) {
            throw new CaptureException(
                    file + ":" + number + ": not a JSON object: " + e.getOriginalMessage(), e);
        } catch (CharacterCodingException e) {
            throw new CaptureException(file + ":" + number + ": not UTF-8 text", e);
        } catch (IOException e) {
            throw new CaptureException(file + ": cannot be read: " + e.getMessage(), e);
        } catch (IllegalArgumentException e) {
            throw new CaptureException(file + ":" + number + ": " + e.getMessage(), e);
        }
        return reader.capture(file);
    }

    private Capture capture(Path file) throws CaptureException {
        if (meta == null) {
            throw new CaptureException(
                    file
                            + ": no line of kind \"meta\"; is this a recording of an engine's events?");
        }
        int blockSize = meta.path("block_size").asInt(0);
        if (blockSize <= 0) {
            throw new CaptureException(file + ": the meta line has no block_size above 0");
        }
        List<Capture.Line> filled = new ArrayList<>(lines);
        filled.replaceAll(
                l ->
                        l instanceof Capture.Request r && r.prompt() == null
                                ? withPrompt(r, promptOfAnswer.get(r.id()))
                                : l);
        return new Capture(
                name,
                meta.path("engine").asText("?"),
                meta.path("kind").asText("?"),
                blockSize,
                meta.path("bigrams").asBoolean(false),
                List.copyOf(filled));
    }

    private static Capture.Request withPrompt(Capture.Request r, int @Nullable [] prompt) {
        return new Capture.Request(
                r.time(),
                r.id(),
                r.step(),
                prompt,
                r.lora(),
                r.salt(),
                r.extraKey(),
                r.rank(),
                r.several());
    }

    private void line(String text) throws JsonProcessingException {
        JsonNode o = JSON.readTree(text);
        if (!o.isObject()) {
            throw new IllegalArgumentException("not a JSON object");
        }
        double time = o.path("t").asDouble(0);
        switch (o.path("k").asText("")) {
            case "meta" -> meta = o;
            case "request" -> request(time, o);
            case "response" -> response(time, o);
            case "event" ->
                    lines.add(
                            new Capture.Event(
                                    time, o.path("src").asInt(0), frames(need(o, "frames"))));
            case "replay" -> history(time, o);
            default -> {}
        }
    }

    private void request(double time, JsonNode o) {
        JsonNode body = o.path("body");
        lines.add(
                new Capture.Request(
                        time,
                        need(o, "id").asText(),
                        o.path("step").asText(""),
                        ids(o.path("prompt_ids")),
                        lora(body),
                        body.path("cache_salt").asText(""),
                        body.hasNonNull("extra_key"),
                        number(body, "routed_dp_rank"),
                        several(o)));
    }

    /** Of a request that lists its prompts by themselves. */
    private static Capture.@Nullable Several several(JsonNode o) {
        if (!o.path("prompts").isArray()) {
            return null;
        }
        List<int[]> prompts = new ArrayList<>();
        for (JsonNode one : o.path("prompts")) {
            int[] ids = ids(one);
            if (ids == null) {
                throw new IllegalArgumentException("\"prompts\" are no lists of token ids");
            }
            prompts.add(ids);
        }
        JsonNode body = o.path("body");
        return new Capture.Several(
                prompts, body.path("n").asInt(1), body.path("stream").asBoolean(false));
    }

    /** By SGLang's own field, or as a model beside the one that the engine was started with. */
    private String lora(JsonNode body) {
        String model = body.path("model").asText("");
        String own = meta == null ? "" : meta.path("model").asText("");
        return body.path("lora_path").asText(model.equals(own) ? "" : model);
    }

    private void response(double time, JsonNode o) {
        String id = need(o, "id").asText();
        int[] prompt = ids(o.path("prompt_ids"));
        if (prompt != null) {
            for (JsonNode m : o.path("media")) { // its name, where it begins, how long it is
                int start = m.path(1).asInt();
                MediaIds.of(m.path(0).asText())
                        .put(prompt, start, start, start + m.path(2).asInt());
            }
            promptOfAnswer.put(id, prompt);
        }
        JsonNode details = o.path("cached_tokens_details");
        lines.add(
                new Capture.Response(
                        time,
                        id,
                        o.path("status").asInt(0),
                        number(o, "prompt_tokens"),
                        number(o, "completion_tokens"),
                        number(o, "cached_tokens"),
                        number(details, "device"),
                        number(details, "host"),
                        number(details, "storage")));
    }

    /** Only an answer to "everything from 0", and only a DEALER sees the whole of it. */
    private void history(double time, JsonNode o) {
        if (o.path("start").asLong(-1) == 0 && o.path("socket").asText().equals("DEALER")) {
            List<List<byte[]>> replies = new ArrayList<>();
            o.path("replies").forEach(r -> replies.add(frames(r)));
            lines.add(new Capture.History(time, o.path("src").asInt(0), replies));
        }
    }

    private static JsonNode need(JsonNode o, String field) {
        JsonNode value = o.get(field);
        if (value == null || value.isNull()) {
            throw new IllegalArgumentException("no field \"" + field + "\"");
        }
        return value;
    }

    private static List<byte[]> frames(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false)
                .map(f -> HexFormat.of().parseHex(f.asText()))
                .toList();
    }

    private static int @Nullable [] ids(JsonNode list) {
        if (!list.isArray()) {
            return null;
        }
        int[] out = new int[list.size()];
        for (int i = 0; i < out.length; i++) {
            long id = list.get(i).asLong();
            out[i] = id > 0xffff_ffffL ? MediaIds.folded(id) : (int) id;
        }
        return out;
    }

    private static OptionalInt number(JsonNode o, String field) {
        return o.hasNonNull(field) ? OptionalInt.of(o.get(field).asInt()) : OptionalInt.empty();
    }
}
