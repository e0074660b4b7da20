package io.warmpath.tokens.template;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.template.PromptInput.Chat;
import io.warmpath.tokens.template.PromptInput.Conversation;
import io.warmpath.tokens.template.PromptInput.Message;
import io.warmpath.tokens.template.PromptInput.Text;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jpountz.xxhash.XXHashFactory;
import org.junit.jupiter.api.Test;

class TextChunksTest {
    private static final int END = 0xff;
    private static final int LIST = 0xfe;

    private static int[] ids(PromptInput prompt) {
        return TextChunks.of("m", prompt).orElseThrow().ids();
    }

    /** Texts as UTF-8, numbers as bytes. */
    private static byte[] bytes(Object... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Object part : parts) {
            if (part instanceof Integer one) {
                out.write(one);
            } else {
                out.writeBytes(((String) part).getBytes(StandardCharsets.UTF_8));
            }
        }
        return out.toByteArray();
    }

    private static int[] hashed(byte[]... chunks) {
        int[] ids = new int[2 * chunks.length];
        for (int i = 0; i < chunks.length; i++) {
            long hash =
                    XXHashFactory.safeInstance().hash64().hash(chunks[i], 0, chunks[i].length, 0);
            ids[2 * i] = (int) hash;
            ids[2 * i + 1] = (int) (hash >> 32);
        }
        return ids;
    }

    private static Chat chat(String... rolesAndContents) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < rolesAndContents.length; i += 2) {
            messages.add(new Message(rolesAndContents[i], rolesAndContents[i + 1]));
        }
        return new Chat(messages, true);
    }

    private static Conversation conversation(List<Object> tools, Object... messages) {
        return new Conversation(
                100,
                () ->
                        new ChatRequest(
                                Arrays.asList(messages),
                                tools.isEmpty() ? null : tools,
                                null,
                                null,
                                null,
                                false,
                                Map.of(),
                                null));
    }

    /** Of names and values in turn. */
    private static Map<String, Object> map(Object... members) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < members.length; i += 2) {
            map.put((String) members[i], members[i + 1]);
        }
        return map;
    }

    @Test
    void a_text_is_cut_every_256_bytes_behind_its_model() {
        byte[] all = bytes("m", END, "ü".repeat(300), END);
        assertArrayEquals(
                hashed(
                        Arrays.copyOf(all, 256),
                        Arrays.copyOfRange(all, 256, 512),
                        Arrays.copyOfRange(all, 512, 603)),
                ids(new Text("ü".repeat(300))));
        TextChunks chunks = TextChunks.of("m", new Text("ü".repeat(300))).orElseThrow();
        assertEquals(3, chunks.chunks());
        assertEquals(0, chunks.tokens(0));
        assertEquals(64, chunks.tokens(1));
        assertEquals(151, chunks.tokens());
    }

    @Test
    void a_chat_is_cut_where_its_messages_end() {
        assertArrayEquals(
                hashed(
                        bytes("m", END, LIST),
                        bytes("message", END, "system", END, "be kind", END),
                        bytes("message", END, "user", END, "hi", END)),
                ids(chat("system", "be kind", "user", "hi")));
    }

    @Test
    void the_same_messages_are_the_same_however_they_were_read() {
        assertArrayEquals(
                ids(chat("user", "hi", "assistant", "")),
                ids(
                        conversation(
                                List.of(),
                                map("content", "hi", "role", "user"),
                                map("role", "assistant", "content", null))));
    }

    @Test
    void the_order_of_members_and_marks_for_caches_change_nothing() {
        Map<String, Object> call = map("name", "weather", "arguments", "{}");
        assertArrayEquals(
                ids(
                        conversation(
                                List.of(map("type", "function", "function", call)),
                                map("role", "user", "content", List.of(part("hi"))))),
                ids(
                        conversation(
                                List.of(
                                        map(
                                                "function",
                                                map("arguments", "{}", "name", "weather"),
                                                "type",
                                                "function")),
                                map(
                                        "content",
                                        List.of(
                                                map(
                                                        "text",
                                                        "hi",
                                                        "cache_control",
                                                        map("type", "ephemeral"),
                                                        "type",
                                                        "text")),
                                        "role",
                                        "user"))));
    }

    private static Map<String, Object> part(String text) {
        return map("type", "text", "text", text);
    }

    @Test
    void what_differs_has_other_chunks() {
        List<int[]> all =
                List.of(
                        ids(chat("user", "abc")),
                        ids(chat("usera", "bc")),
                        ids(chat("user", "abc", "user", "")),
                        ids(new Text("user")),
                        ids(conversation(List.of("t"), map("role", "user", "content", "abc"))),
                        ids(
                                conversation(
                                        List.of(),
                                        map("role", "user", "content", List.of(part("abc"))))),
                        ids(
                                conversation(
                                        List.of(),
                                        map("role", "user", "content", "abc", "name", "x"))),
                        ids(conversation(List.of(), map("role", "user", "content", 7))),
                        ids(conversation(List.of(), map("role", "user", "content", "7"))),
                        TextChunks.of("other", chat("user", "abc")).orElseThrow().ids());
        for (int[] one : all) {
            assertEquals(1, all.stream().filter(other -> Arrays.equals(one, other)).count());
        }
    }

    @Test
    void an_image_is_told_by_its_hash_not_by_its_size() {
        TextChunks one = TextChunks.of("m", image("a".repeat(1 << 20))).orElseThrow();
        TextChunks other = TextChunks.of("m", image("a".repeat((1 << 20) - 1) + "b")).orElseThrow();
        assertTrue(one.tokens() < 100, one.tokens() + " tokens");
        assertFalse(Arrays.equals(one.ids(), other.ids()));
    }

    private static Conversation image(String data) {
        return conversation(
                List.of(),
                map(
                        "role",
                        "user",
                        "content",
                        List.of(map("type", "image_url", "image_url", map("url", data)))));
    }

    @Test
    void ids_and_batches_have_no_text() {
        assertTrue(TextChunks.of("m", new PromptInput.Ids(new int[] {1})).isEmpty());
        assertTrue(TextChunks.of("m", new PromptInput.Opaque("batch")).isEmpty());
    }

    /** What a conversation and its continuation have in common is whole, and nothing else is. */
    @Test
    void conversations_part_at_the_message_where_they_differ() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            List<String> turns = new ArrayList<>();
            for (int i = random.nextInt(1, 8); i > 0; i--) {
                turns.add(random.nextBoolean() ? "user" : "assistant");
                turns.add("é ".repeat(random.nextInt(400)) + random.nextInt());
            }
            int[] whole = ids(chat(turns.toArray(String[]::new)));
            int same = 2 * random.nextInt(turns.size() / 2 + 1);
            List<String> other = new ArrayList<>(turns.subList(0, same));
            int[] common = ids(chat(other.toArray(String[]::new)));
            other.addAll(List.of("user", "another " + random.nextInt()));
            int[] branch = ids(chat(other.toArray(String[]::new)));
            String where = "seed " + seed + " round " + round;
            assertArrayEquals(common, Arrays.copyOf(whole, common.length), where);
            assertArrayEquals(common, Arrays.copyOf(branch, common.length), where);
            assertEquals(common.length / 2, Arrays.mismatch(whole, branch) / 2, where);
        }
    }
}
