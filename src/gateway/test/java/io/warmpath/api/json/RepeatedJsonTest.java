package io.warmpath.api.json;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an event repeats is not read again, and what is read is right. */
class RepeatedJsonTest {
    private static final String META = "\"meta_info\":{\"id\":\"x\",\"completion_tokens\":";

    private final RepeatedJson json = new RepeatedJson();
    private final List<String> members = new ArrayList<>();

    private void read(String event) throws IOException {
        byte[] bytes = event.getBytes(StandardCharsets.UTF_8);
        json.read(
                bytes,
                0,
                bytes.length,
                (name, b, from, to) ->
                        members.add(
                                name
                                        + "="
                                        + new String(b, from, to - from, StandardCharsets.UTF_8)));
    }

    /** Reads a cumulative answer of n tokens as SGLang streams it; how many bytes were read. */
    private static long bytesReadOf(int n, boolean textChangesInFront) throws IOException {
        RepeatedJson json = new RepeatedJson();
        StringBuilder text = new StringBuilder();
        StringBuilder ids = new StringBuilder();
        for (int i = 0; i < n; i++) {
            int id = 1000 + i * 7919 % 150_000;
            text.append(" wörd\\n");
            ids.append(ids.isEmpty() ? "" : ",").append(id);
            String event =
                    "{\"text\":\""
                            + (textChangesInFront ? (char) ('a' + i % 26) : "")
                            + text
                            + "\",\"output_ids\":["
                            + ids
                            + "],"
                            + META
                            + (i + 1)
                            + "}}";
            byte[] bytes = event.getBytes(StandardCharsets.UTF_8);
            json.read(bytes, 0, bytes.length, (name, b, from, to) -> {});
            assertEquals(i + 1, json.ids());
            assertArrayEquals(new int[] {id}, json.newest(1));
        }
        return json.bytesRead();
    }

    @Test
    void the_work_grows_with_the_answer_not_with_its_square() throws IOException {
        // An event's own members are 80 bytes, its share of text and ids 14.
        long thousand = bytesReadOf(1_000, false);
        assertTrue(thousand < 100 * 1_000, () -> thousand + " bytes for 1,000 tokens");
        long tenThousand = bytesReadOf(10_000, false);
        assertTrue(tenThousand < 100 * 10_000, () -> tenThousand + " bytes for 10,000 tokens");
    }

    @Test
    void the_count_shows_a_reader_that_starts_over_each_time() throws IOException {
        // Control: the text differs in its first character, so that all of it is read.
        long thousand = bytesReadOf(1_000, true);
        assertTrue(thousand > 1_000 * 1_000, () -> thousand + " bytes for 1,000 tokens");
    }

    @Test
    void a_number_that_grows_is_another_number() throws IOException {
        read("{\"output_ids\":[1,77]}");
        read("{\"output_ids\":[1,776]}");
        assertEquals(2, json.ids());
        assertArrayEquals(new int[] {1, 776}, json.newest(2));
    }

    @Test
    void an_increment_that_equals_the_one_before_is_told_again() throws IOException {
        read("{\"output_ids\":[5,6]}");
        read("{\"output_ids\":[5,6]}");
        assertArrayEquals(new int[] {5, 6}, json.newest(2));
        read("{\"output_ids\":[5,6,7]}");
        assertArrayEquals(new int[] {5, 6, 7}, json.newest(3));
        read("{\"output_ids\":[]}");
        assertEquals(0, json.ids());
        read("{\"output_ids\":[4294967295]}");
        assertArrayEquals(new int[] {-1}, json.newest(1));
    }

    @Test
    void other_members_are_handed_on_as_they_are() throws IOException {
        read(
                "{ \"a\" : \"x\\\"}\" , \"output_ids\": [ 1 , 2 ], \"n\": -1.5e3,\"o\":{\"p\":[{}]},\"z\":null} ");
        assertEquals(List.of("a=\"x\\\"}\"", "n=-1.5e3", "o={\"p\":[{}]}", "z=null"), members);
        assertArrayEquals(new int[] {1, 2}, json.newest(2));
        read("{}");
        assertEquals(0, json.ids());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[1]",
                "{\"output_ids\":[1,]}",
                "{\"output_ids\":[,1]}",
                "{\"output_ids\":[-1]}",
                "{\"output_ids\":[4294967296]}",
                "{\"output_ids\":[1",
                "{\"text\":\"a",
                "{\"text\":\"a\\",
                "{\"a\":{",
                "{\"a\"1}",
                "{\"a\":1 \"b\":2}",
                "{} x"
            })
    void what_is_no_object_is_refused_and_the_next_one_read(String event) throws IOException {
        read("{\"text\":\"a\",\"output_ids\":[1]}");
        assertThrows(IOException.class, () -> read(event));
        read("{\"text\":\"ab\",\"output_ids\":[1,2]}");
        assertArrayEquals(new int[] {1, 2}, json.newest(2));
    }

    /** Texts and ids that grow, shrink, stay and start anew, with members in any order. */
    @Test
    void it_reads_what_a_reader_without_memory_reads() throws IOException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            RepeatedJson remembers = new RepeatedJson();
            StringBuilder text = new StringBuilder();
            List<Integer> ids = new ArrayList<>();
            for (int event = 0; event < 30; event++) {
                switch (random.nextInt(6)) {
                    case 0 -> ids.clear();
                    case 1 -> text.setLength(0);
                    case 2 -> {}
                    default -> {
                        text.append(
                                List.of("a", "\\\"", "\\\\", "é", "]", "1,")
                                        .get(random.nextInt(6)));
                        ids.add(random.nextInt(120));
                    }
                }
                String t = "\"text\":\"" + text + "\"";
                String i = "\"output_ids\":" + ids.toString().replace(" ", "");
                String e =
                        random.nextInt(8) == 0 ? "{" + i + "," + t + "}" : "{" + t + "," + i + "}";
                byte[] bytes = ("xx" + e + "yy").getBytes(StandardCharsets.UTF_8);
                remembers.read(bytes, 2, bytes.length - 2, (name, b, from, to) -> {});
                String where = "seed " + seed + ", event " + e;
                assertEquals(ids.size(), remembers.ids(), where);
                int n = ids.isEmpty() ? 0 : random.nextInt(ids.size() + 1);
                assertArrayEquals(
                        ids.subList(ids.size() - n, ids.size()).stream().mapToInt(x -> x).toArray(),
                        remembers.newest(n),
                        where);
            }
        }
    }

    @Test
    void lines_are_cut_anywhere_and_several_lines_of_data_are_one() {
        String stream =
                String.join(
                        "\n",
                        List.of(
                                ": hello",
                                "",
                                "event: x",
                                "data: {\"a\":1}",
                                "",
                                "data:b\r",
                                "data: c\r",
                                "\r",
                                "id: 3",
                                "",
                                "data: [DONE]",
                                "",
                                ""));
        for (int piece : new int[] {1, 3, 1000}) {
            List<String> got = new ArrayList<>();
            EventSplitter lines =
                    new EventSplitter(
                            (b, from, to) ->
                                    got.add(
                                            new String(
                                                    Arrays.copyOfRange(b, from, to),
                                                    StandardCharsets.UTF_8)));
            byte[] bytes = stream.getBytes(StandardCharsets.UTF_8);
            for (int i = 0; i < bytes.length; i += piece) {
                lines.add(bytes, i, Math.min(piece, bytes.length - i));
            }
            assertEquals(List.of("{\"a\":1}", "b\nc", "[DONE]"), got, "pieces of " + piece);
        }
    }
}
