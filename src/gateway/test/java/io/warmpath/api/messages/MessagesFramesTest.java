package io.warmpath.api.messages;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Chunks of engines as Anthropic's events. Single quotes stand for double ones. */
class MessagesFramesTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String ROLE = chunk("{'role':'assistant','content':''}", "null");
    private static final String USAGE =
            "data: {'id':'chatcmpl-7','choices':[],'usage':{'prompt_tokens':20,"
                    + "'completion_tokens':4,'prompt_tokens_details':{'cached_tokens':16}}}\n\n";
    private static final String DONE = "data: [DONE]\n\n";
    private static final String START =
            "message_start {'message':{'type':'message','id':'msg_7','role':'assistant',"
                    + "'model':'m','content':[],'stop_reason':null,'stop_sequence':null,'usage':"
                    + "{'input_tokens':0,'cache_creation_input_tokens':0,"
                    + "'cache_read_input_tokens':0,'output_tokens':0}}}";
    private static final String PING = "ping {}";
    private static final String STOP = "message_stop {}";

    private static String chunk(String delta, String finish, String... more) {
        return "data: {'id':'chatcmpl-7','object':'chat.completion.chunk','choices':[{'index':0,"
                + "'delta':"
                + delta
                + ",'finish_reason':"
                + finish
                + String.join("", more)
                + "}]}\n\n";
    }

    private static String text(String text) {
        return chunk("{'content':'" + text + "'}", "null");
    }

    private static String call(int index, String members) {
        return chunk("{'tool_calls':[{'index':" + index + "," + members + "}]}", "null");
    }

    private static String opened(int index, String block) {
        return "content_block_start {'index':" + index + ",'content_block':" + block + "}";
    }

    private static String delta(int index, String type, String name, String value) {
        return "content_block_delta {'index':%d,'delta':{'type':'%s','%s':%s}}"
                .formatted(index, type, name, value);
    }

    private static String closed(int index) {
        return "content_block_stop {'index':" + index + "}";
    }

    private static String ended(String reason, String sequence, int in, int cached, int out) {
        return ("message_delta {'delta':{'stop_reason':'%s','stop_sequence':%s},'usage':"
                        + "{'input_tokens':%d,'cache_creation_input_tokens':0,"
                        + "'cache_read_input_tokens':%d,'output_tokens':%d}}")
                .formatted(reason, sequence, in, cached, out);
    }

    private static MessagesFrames frames() {
        return new MessagesFrames("r", "m", List.of("END"), bytes -> true);
    }

    /** Events as {@code name {members but the type}}, each checked for its form. */
    private static List<String> read(String events) {
        List<String> read = new ArrayList<>();
        try {
            for (String event : events.split("\n\n", -1)) {
                if (!event.isEmpty()) {
                    String[] lines = event.split("\n", -1);
                    assertEquals(2, lines.length, event);
                    JsonNode data = JSON.readTree(lines[1].substring("data: ".length()));
                    String name = data.get("type").asText();
                    assertEquals("event: " + name, lines[0]);
                    ((ObjectNode) data).remove("type");
                    read.add(name + " " + data.toString().replace('"', '\''));
                }
            }
        } catch (JsonProcessingException e) {
            throw new AssertionError(events, e);
        }
        return read;
    }

    private static List<String> all(String chunks, int piece) {
        MessagesFrames frames = frames();
        byte[] bytes = chunks.replace('\'', '"').getBytes(UTF_8);
        StringBuilder events = new StringBuilder();
        for (int i = 0; i < bytes.length; i += piece) {
            int n = Math.min(piece, bytes.length - i);
            events.append(new String(frames.add(bytes, i, n), UTF_8));
        }
        return read(events + new String(frames.ended(), UTF_8));
    }

    private static final String WORDS =
            ROLE + text("Hé") + text("llo") + chunk("{}", "'stop'") + USAGE + DONE;
    private static final List<String> WORDS_READ =
            List.of(
                    START,
                    PING,
                    opened(0, "{'type':'text','text':''}"),
                    delta(0, "text_delta", "text", "'Hé'"),
                    delta(0, "text_delta", "text", "'llo'"),
                    closed(0),
                    ended("end_turn", "null", 4, 16, 4),
                    STOP);

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 7, 11, 64, 1 << 20})
    void a_text_in_pieces_of_any_size(int piece) {
        assertEquals(WORDS_READ, all(WORDS, piece));
    }

    @Test
    void a_stream_cut_in_two_anywhere_reads_the_same() {
        byte[] bytes = WORDS.replace('\'', '"').getBytes(UTF_8);
        for (int cut = 0; cut <= bytes.length; cut++) {
            MessagesFrames frames = frames();
            String events =
                    new String(frames.add(bytes, 0, cut), UTF_8)
                            + new String(frames.add(bytes, cut, bytes.length - cut), UTF_8)
                            + new String(frames.ended(), UTF_8);
            assertEquals(WORDS_READ, read(events), "cut at " + cut);
        }
    }

    @Test
    void a_stream_that_ends_anywhere_ends_whole_or_with_an_error() {
        byte[] bytes = WORDS.replace('\'', '"').getBytes(UTF_8);
        int finish = WORDS.indexOf(chunk("{}", "'stop'")) + chunk("{}", "'stop'").length();
        int known = WORDS.substring(0, finish).getBytes(UTF_8).length;
        for (int end = 0; end < bytes.length; end++) {
            MessagesFrames frames = frames();
            List<String> events =
                    read(
                            new String(frames.add(bytes, 0, end), UTF_8)
                                    + new String(frames.ended(), UTF_8));
            String last = events.getLast();
            assertTrue(last.startsWith(end < known ? "error " : "message_stop "), end + last);
            assertEquals(0, frames.ended().length, "nothing comes behind the end");
        }
    }

    @Test
    void thinking_text_and_calls_are_blocks_in_their_order() {
        String stream =
                ROLE
                        + chunk("{'reasoning_content':'hm'}", "null")
                        + chunk("{'reasoning':'m','reasoning_content':''}", "null")
                        + text("I ask")
                        + call(0, "'id':'c0','function':{'name':'f','arguments':''}")
                        + call(0, "'function':{'arguments':'{\\'a\\':'}")
                        + call(0, "'id':null,'function':{'name':null,'arguments':'1}'}")
                        + call(1, "'function':{'name':'g','arguments':'{}'}")
                        + chunk("{}", "'tool_calls'")
                        + DONE;
        assertEquals(
                List.of(
                        START,
                        PING,
                        opened(0, "{'type':'thinking','thinking':'','signature':''}"),
                        delta(0, "thinking_delta", "thinking", "'hm'"),
                        delta(0, "thinking_delta", "thinking", "'m'"),
                        closed(0),
                        opened(1, "{'type':'text','text':''}"),
                        delta(1, "text_delta", "text", "'I ask'"),
                        closed(1),
                        opened(2, "{'type':'tool_use','id':'c0','name':'f','input':{}}"),
                        delta(2, "input_json_delta", "partial_json", "'{\\'a\\':'"),
                        delta(2, "input_json_delta", "partial_json", "'1}'"),
                        closed(2),
                        opened(3, "{'type':'tool_use','id':'toolu_msg_7_1','name':'g','input':{}}"),
                        delta(3, "input_json_delta", "partial_json", "'{}'"),
                        closed(3),
                        ended("tool_use", "null", 0, 0, 0),
                        STOP),
                all(stream, 1 << 20));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "'stop' | | end_turn | null",
                "'stop' | ,'stop_reason':'END' | stop_sequence | 'END'",
                "'stop' | ,'matched_stop':'END' | stop_sequence | 'END'",
                "'stop' | ,'stop_reason':151645 | end_turn | null",
                "'stop' | ,'stop_reason':'other' | end_turn | null",
                "'length' | | max_tokens | null",
                "'tool_calls' | | tool_use | null",
                "'content_filter' | | refusal | null",
            })
    void why_it_stopped(String finish, String more, String reason, String sequence) {
        List<String> events =
                all(ROLE + text("a") + chunk("{}", finish, more == null ? "" : more) + DONE, 999);
        assertEquals(ended(reason, sequence, 0, 0, 0), events.get(events.size() - 2));
    }

    @Test
    void a_tool_called_by_order_is_tool_use_though_the_engine_says_stop() {
        List<String> events =
                all(
                        call(0, "'id':'c','function':{'name':'f','arguments':'{}'}")
                                + chunk("{}", "'stop'")
                                + DONE,
                        999);
        assertEquals(ended("tool_use", "null", 0, 0, 0), events.get(events.size() - 2));
    }

    @Test
    void an_empty_answer_is_a_message_too() {
        assertEquals(
                List.of(START, PING, ended("end_turn", "null", 0, 0, 0), STOP),
                all(chunk("{}", "'stop'") + DONE, 999));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "{'error':{'message':'out of memory','type':'x'}} | out of memory",
                "{'error':'out of memory'} | out of memory",
                "{'error':{}} | The engine failed.",
                "nonsense | The engine sent an event that is not a chunk of a chat.",
                "{'id':'x','choices':[{'delta':{},'finish_reason':'abort'}]} |"
                        + " The engine aborted the answer.",
                "{'choices':[{'delta':{'tool_calls':[{'index':0,'function':"
                        + "{'arguments':'x'}}]}}]} |"
                        + " The engine sent an event that is not a chunk of a chat.",
            })
    void what_goes_wrong_in_the_middle_is_an_error_event_and_the_last(String data, String why) {
        List<String> events =
                all(ROLE + text("a") + "data: " + data + "\n\n" + DONE + text("b"), 999);
        assertEquals(
                "error {'error':{'type':'api_error','message':'" + why + "'},'request_id':'r'}",
                events.getLast());
        assertEquals(5, events.size(), events::toString);
    }

    @Test
    void the_decision_stands_in_the_last_event_but_one() {
        MessagesFrames frames = frames();
        frames.explain(() -> "{\"a\":1}");
        byte[] bytes = WORDS.replace('\'', '"').getBytes(UTF_8);
        List<String> events = read(new String(frames.add(bytes, 0, bytes.length), UTF_8));
        String last = events.get(events.size() - 2);
        assertTrue(last.endsWith(",'nvext':{'routing':{'a':1}}}"), last);
    }

    @Test
    void an_event_without_an_end_ends_the_stream_with_an_error() {
        int[] asked = new int[1];
        MessagesFrames frames =
                new MessagesFrames("r", "m", List.of(), bytes -> (asked[0] += bytes) < 1 << 20);
        byte[] piece = "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".getBytes(UTF_8);
        StringBuilder events = new StringBuilder();
        for (int i = 0; i < 100_000; i++) {
            events.append(new String(frames.add(piece, 0, piece.length), UTF_8));
        }
        assertTrue(events.toString().contains("without an end"), events.toString());
        assertTrue(asked[0] < 4 << 20, asked[0] + " bytes");
    }
}
