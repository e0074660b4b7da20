package io.warmpath.tokens;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.adapter.tokenizer.DemoModel;
import io.warmpath.adapter.tokenizer.HuggingFaceModelLoader;
import io.warmpath.adapter.zmq.KvEventDecoder;
import io.warmpath.events.KvEvent;
import io.warmpath.prefix.MediaIds;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.tokens.model.ModelSources;
import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.LearntMedia;
import io.warmpath.tokens.template.PromptInput;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Chats with images as a real vLLM got them, and the ids that it made of them. */
class MediaTokensTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String IMAGE_PAD = "<|image_pad|>";

    /** As in src/test/engines/make_vision_model.py. */
    private static final String TEMPLATE =
            "{%- for message in messages %}{{ '<|im_start|>' + message.role + '\n' }}"
                    + "{%- if message.content is string %}{{ message.content }}{%- else %}"
                    + "{%- for part in message.content %}"
                    + "{%- if part.type == 'image' %}"
                    + "{{ '<|vision_start|><|image_pad|><|vision_end|>' }}"
                    + "{%- elif part.type == 'text' %}{{ part.text }}{%- endif %}"
                    + "{%- endfor %}{%- endif %}{{ '<|im_end|>\n' }}{%- endfor %}"
                    + "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{%- endif %}";

    @TempDir Path dir;
    private int imagePad;

    @BeforeEach
    void writeModel() throws IOException {
        ObjectNode tokenizer = (ObjectNode) JSON.readTree(DemoModel.json());
        ArrayNode merges = JSON.createArrayNode();
        for (JsonNode merge : tokenizer.path("model").path("merges")) {
            if (!merge.toString().contains("\u010a")) {
                merges.add(merge);
            }
        }
        ((ObjectNode) tokenizer.path("model")).set("merges", merges);
        ArrayNode added = (ArrayNode) tokenizer.path("added_tokens");
        int next = tokenizer.path("model").path("vocab").size() + added.size();
        for (String token :
                List.of(
                        "<|vision_start|>",
                        "<|vision_end|>",
                        "<|vision_pad|>",
                        IMAGE_PAD,
                        "<|video_pad|>")) {
            if (token.equals(IMAGE_PAD)) {
                imagePad = next;
            }
            ObjectNode one = added.get(0).deepCopy();
            added.add(one.put("id", next++).put("content", token));
        }
        JSON.writeValue(dir.resolve("tokenizer.json").toFile(), tokenizer);
        JSON.writeValue(
                dir.resolve("tokenizer_config.json").toFile(), Map.of("chat_template", TEMPLATE));
        JSON.writeValue(
                dir.resolve("config.json").toFile(),
                Map.of(
                        "architectures",
                        List.of("Qwen2VLForConditionalGeneration"),
                        "image_token_id",
                        imagePad));
    }

    private ModelTokens tokens() {
        return new ModelTokens(
                ModelSources.of(Map.of(), dir),
                new HuggingFaceModelLoader(),
                TokensOptions.DEFAULT,
                () -> 0);
    }

    private static PromptInput.Conversation chat(JsonNode body, int places) {
        List<?> messages = JSON.convertValue(body.path("messages"), List.class);
        return new PromptInput.Conversation(
                body.toString().length(),
                () -> ChatRequest.of(messages, true),
                new PromptInput.Extent(() -> IntStream.range(0, places).toArray()));
    }

    private static int images(JsonNode body) {
        int count = 0;
        for (JsonNode message : body.path("messages")) {
            for (JsonNode part : message.path("content")) {
                count += part.path("type").asText().equals("image_url") ? 1 : 0;
            }
        }
        return count;
    }

    private static int[] ids(JsonNode list) {
        int[] ids = new int[list.size()];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = list.get(i).asInt();
        }
        return ids;
    }

    /**
     * Each request in turn, as a gateway that knows nothing at first: its ids are the engine's own,
     * as far as they go, and they go through every image whose size was seen before.
     */
    @Test
    void what_a_real_engine_made_of_images_is_predicted_once_their_sizes_were_seen()
            throws IOException {
        Map<String, JsonNode> asked = new HashMap<>();
        Map<String, String> steps = new LinkedHashMap<>();
        try (ModelTokens tokens = tokens();
                InputStream file =
                        MediaTokensTest.class.getResourceAsStream(
                                "/captures/vllm-0.32.0-media-b32.jsonl")) {
            assertNotNull(file);
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                JsonNode o = JSON.readTree(line);
                String id = o.path("id").asText();
                switch (o.path("k").asText()) {
                    case "request" -> asked.put(id, o);
                    case "response" -> {
                        JsonNode request = asked.get(id);
                        steps.put(
                                request.path("step").asText(),
                                compared(tokens, request.path("body"), o));
                    }
                    default -> {}
                }
            }
        }
        List<String> cut = new ArrayList<>();
        steps.forEach(
                (step, why) -> {
                    if (!why.isEmpty()) {
                        cut.add(step + ": " + why);
                    }
                });
        assertEquals(
                List.of(
                        "an image: media of a length not seen yet",
                        "its third turn, with another image: media of a length not seen yet",
                        "by address: media whose name only the engine knows",
                        "by address, again: media whose name only the engine knows",
                        "by address with a name: media of a length not seen yet"),
                cut);
        assertTrue(steps.size() > 20, "requests: " + steps.size());
    }

    /** Why not all of it is known; empty: it is. */
    private static String compared(ModelTokens tokens, JsonNode body, JsonNode answer) {
        PromptInput.Conversation chat = chat(body, images(body));
        int[] predicted = tokens.tokens("any", chat, EngineProfile.VLLM).orElseThrow();
        String why = chat.extent().whyBeginning(EngineProfile.VLLM);
        int length = answer.path("prompt_tokens").asInt();
        if (why.isEmpty()) {
            assertEquals(length, predicted.length);
        } else {
            assertTrue(predicted.length < length, why);
        }
        if (answer.has("media")) {
            int[] whole = ids(answer.path("prompt_ids"));
            for (JsonNode m : answer.path("media")) {
                int start = m.path(1).asInt();
                MediaIds.of(m.path(0).asText()).put(whole, start, start, start + m.path(2).asInt());
            }
            assertArrayEquals(Arrays.copyOf(whole, predicted.length), predicted);
        }
        LearntMedia.Lesson lesson = chat.extent().lesson(EngineProfile.VLLM);
        if (lesson != null) {
            lesson.answered(length);
        }
        return why;
    }

    /**
     * Chats with images as a real SGLang got them, and its events, by which the ids of images are
     * seen: what a gateway that knows nothing at first predicts is what the engine reports.
     */
    @Test
    void what_a_real_engine_made_of_images_of_its_own_name_is_predicted_once_it_was_seen()
            throws Exception {
        Map<String, Asked> asked = new HashMap<>();
        Map<String, Asked> bySession = new HashMap<>();
        List<String> cut = new ArrayList<>();
        int whole = 0;
        try (ModelTokens tokens = tokens();
                ReferencePrefixIndex index = new ReferencePrefixIndex();
                InputStream file =
                        MediaTokensTest.class.getResourceAsStream(
                                "/captures/sglang-0.5.23-media-p16.jsonl")) {
            assertNotNull(file);
            WorkerSlot slot = index.open(0);
            for (String line :
                    new String(file.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
                JsonNode o = JSON.readTree(line);
                String id = o.path("id").asText();
                switch (o.path("k").asText()) {
                    case "request" -> {
                        JsonNode body = o.path("body");
                        if (body.has("messages")) {
                            Asked one =
                                    new Asked(o.path("step").asText(), chat(body, images(body)));
                            int[] ids =
                                    tokens.tokens("any", one.chat, EngineProfile.SGLANG)
                                            .orElseThrow();
                            one.length = ids.length;
                            one.predicted = PAGE * index.match(query(ids)).depth(slot, Tier.GPU);
                            asked.put(id, one);
                            bySession.put(body.path("session_id").asText(), one);
                        }
                    }
                    case "event" -> {
                        for (KvEvent.Stored e : stored(o)) {
                            index.apply(List.of(event(slot, e)));
                            Asked one = bySession.get(String.valueOf(e.sessionId()));
                            if (one != null) {
                                one.stored = row(one.stored, e.tokens());
                                one.learn();
                            }
                        }
                    }
                    case "response" -> {
                        Asked one = asked.get(id);
                        if (one != null) {
                            one.promptTokens = o.path("prompt_tokens").asInt();
                            one.cachedTokens = o.path("cached_tokens").asInt();
                            one.lesson().answered(one.promptTokens);
                            one.learn();
                            String why = one.chat.extent().whyBeginning(EngineProfile.SGLANG);
                            if (why.isEmpty()) {
                                whole++;
                                assertEquals(one.promptTokens, one.length, one.step);
                            } else {
                                cut.add(one.step + ": " + why);
                            }
                            assertEquals(one.cachedTokens, one.predicted, one.step);
                        }
                    }
                    default -> {}
                }
            }
        }
        assertEquals(
                List.of("a chat: media not seen yet", "a chat with two images: media not seen yet"),
                cut);
        assertEquals(6, whole);
    }

    private static final int PAGE = 16;

    /** A chat, what was predicted of it, and what its engine said. */
    private static final class Asked {
        private final String step;
        private final PromptInput.Conversation chat;
        private int length;
        private int predicted;
        private int promptTokens;
        private int cachedTokens;
        private int[] stored = {};

        Asked(String step, PromptInput.Conversation chat) {
            this.step = step;
            this.chat = chat;
        }

        LearntMedia.Lesson lesson() {
            LearntMedia.Lesson lesson = chat.extent().lesson(EngineProfile.SGLANG);
            assertNotNull(lesson, step);
            return lesson;
        }

        void learn() {
            if (promptTokens > 0 && stored.length > 0) {
                lesson().stored(stored, PAGE, promptTokens, cachedTokens);
            }
        }
    }

    private static PrefixQuery query(int[] ids) {
        return new PrefixQuery(ids, ids.length - 1, PAGE, PrefixSpace.NONE);
    }

    private static List<KvEvent.Stored> stored(JsonNode event) throws Exception {
        JsonNode frames = event.path("frames");
        byte[] payload = HexFormat.of().parseHex(frames.path(frames.size() - 1).asText());
        return new KvEventDecoder()
                .decode(payload).events().stream().map(KvEvent.Stored.class::cast).toList();
    }

    private static PrefixEvent event(WorkerSlot slot, KvEvent.Stored e) {
        return new PrefixEvent.Stored(
                slot,
                Tier.GPU,
                e.hasParent(),
                e.parent(),
                e.hashes(),
                e.tokens(),
                e.blockSize(),
                PrefixSpace.NONE);
    }

    private static int[] row(int[] before, int[] more) {
        int[] all = Arrays.copyOf(before, before.length + more.length);
        System.arraycopy(more, 0, all, before.length, more.length);
        return all;
    }

    private static final String PICTURE = "data:image/png;base64,AAAA";

    private static JsonNode asked(String... parts) throws IOException {
        return JSON.readTree(
                "{\"messages\":[{\"role\":\"user\",\"content\":["
                        + String.join(",", parts)
                        + "]}]}");
    }

    private static String image(String url, @Nullable String uuid) {
        return "{\"type\":\"image_url\",\"image_url\":{\"url\":\""
                + url
                + "\"}"
                + (uuid == null ? "" : ",\"uuid\":\"" + uuid + "\"")
                + "}";
    }

    private static String text(String text) {
        return "{\"type\":\"text\",\"text\":\"" + text + "\"}";
    }

    private static LearntMedia.Lesson lesson(PromptInput.Conversation chat) {
        LearntMedia.Lesson lesson = chat.extent().lesson(EngineProfile.VLLM);
        assertNotNull(lesson);
        return lesson;
    }

    private static String why(ModelTokens tokens, PromptInput.Conversation chat) {
        tokens.tokens("any", chat, EngineProfile.VLLM);
        return chat.extent().whyBeginning(EngineProfile.VLLM);
    }

    @Test
    void a_length_that_an_engine_contradicts_is_learnt_anew() throws IOException {
        try (ModelTokens tokens = tokens()) {
            JsonNode body = asked(image(PICTURE, null), text("a"));
            PromptInput.Conversation first = chat(body, 1);
            int[] beginning = tokens.tokens("any", first, EngineProfile.VLLM).orElseThrow();
            LearntMedia.Lesson lesson = lesson(first);
            lesson.answered(beginning.length + 20);
            PromptInput.Conversation second = chat(body, 1);
            int length = tokens.tokens("any", second, EngineProfile.VLLM).orElseThrow().length;
            assertEquals("", second.extent().whyBeginning(EngineProfile.VLLM));
            assertEquals(beginning.length + 20, length);
            lesson.answered(length + 1);
            assertEquals("media of a length not seen yet", why(tokens, chat(body, 1)));
        }
    }

    @Test
    void two_of_unknown_length_teach_nothing_and_two_of_one_size_do() throws IOException {
        try (ModelTokens tokens = tokens()) {
            JsonNode different = asked(image(PICTURE, "a"), image(PICTURE, "b"));
            PromptInput.Conversation chat = chat(different, 2);
            tokens.tokens("any", chat, EngineProfile.VLLM);
            lesson(chat).answered(100);
            assertEquals("media of a length not seen yet", why(tokens, chat(different, 2)));
            JsonNode same = asked(image(PICTURE, "a"), image(PICTURE, "a"));
            chat = chat(same, 2);
            tokens.tokens("any", chat, EngineProfile.VLLM);
            lesson(chat).answered(101);
            if (!why(tokens, chat(same, 2)).isEmpty()) { // an odd number of tokens is not of two
                lesson(chat).answered(102);
            }
            assertEquals("", why(tokens, chat(same, 2)));
        }
    }

    @Test
    void what_cannot_be_followed_says_why() throws IOException {
        try (ModelTokens tokens = tokens()) {
            JsonNode body = asked(text("a"), image(PICTURE, null));
            // Nobody sends this body on, so that nobody could tell the engine a name.
            assertEquals("media whose name only the engine knows", why(tokens, chat(body, 0)));
            assertEquals(
                    "media of a model whose processor is not known",
                    why(
                            tokens,
                            chat(
                                    asked(
                                            text("a"),
                                            "{\"type\":\"video_url\",\"video_url\":{\"url\":\"data:,\"}}"),
                                    1)));
            assertEquals(
                    "media that the template does not print",
                    why(tokens, chat(asked(text(IMAGE_PAD), image(PICTURE, null)), 1)));
            PromptInput.Conversation sglang = chat(body, 1);
            int[] ids = tokens.tokens("any", sglang, EngineProfile.SGLANG).orElseThrow();
            assertTrue(ids.length > 0);
            assertEquals("media not seen yet", sglang.extent().whyBeginning(EngineProfile.SGLANG));
            JsonNode elsewhere = asked(text("a"), image("http://127.0.0.1/a.png", "mine"));
            PromptInput.Conversation address = chat(elsewhere, 1);
            tokens.tokens("any", address, EngineProfile.SGLANG);
            assertEquals(
                    "media whose name only the engine knows",
                    address.extent().whyBeginning(EngineProfile.SGLANG));
            PromptInput.Conversation any = chat(body, 1);
            tokens.tokens("any", any, EngineProfile.ANY);
            assertEquals(
                    "media on this kind of engine", any.extent().whyBeginning(EngineProfile.ANY));
            assertNull(any.extent().lesson(EngineProfile.ANY));
        }
    }
}
