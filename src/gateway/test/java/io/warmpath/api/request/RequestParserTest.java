package io.warmpath.api.request;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.request.RequestParser.Endpoint;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.RouterOverrides;
import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.tokens.template.PromptInput.Conversation;
import io.warmpath.tokens.template.PromptInput.Message;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is read out of a body, and what is refused. */
class RequestParserTest {
    private static final String USER = "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]";

    private static InferenceRequest parse(Endpoint endpoint, String json, String... headers) {
        return parse(endpoint, Buffer.buffer(json), headers);
    }

    private static InferenceRequest parse(Endpoint endpoint, Buffer body, String... headers) {
        MultiMap map = MultiMap.caseInsensitiveMultiMap();
        for (int i = 0; i < headers.length; i += 2) {
            map.add(headers[i], headers[i + 1]);
        }
        return RequestParser.parse(
                endpoint, "id", "/x", map, body, new RequestParser.Terms(false, true, true));
    }

    private static InferenceRequest chat(String members, String... headers) {
        return parse(Endpoint.CHAT, "{\"model\":\"m\"," + members + "}", headers);
    }

    private static InferenceRequest completion(String members) {
        return parse(Endpoint.COMPLETIONS, "{\"model\":\"m\"," + members + "}");
    }

    private static GatewayError.BadRequest refused(Endpoint endpoint, String json) {
        GatewayException e =
                assertThrows(GatewayException.class, () -> parse(endpoint, json), () -> json);
        return assertInstanceOf(GatewayError.BadRequest.class, e.error());
    }

    @Test
    void a_chat_is_read() {
        InferenceRequest r =
                chat(
                        "\"stream\":true,\"max_tokens\":5,\"x\":{\"y\":[1,{}]},\"messages\":["
                                + "{\"role\":\"system\",\"content\":\"be\\nshort\"},"
                                + "{\"content\":\"h\\u00e9\","
                                + "\"role\":\"user\",\"name\":null}]");
        assertEquals("m", r.model());
        assertTrue(r.stream());
        assertEquals(
                new PromptInput.Chat(
                        List.of(new Message("system", "be\nshort"), new Message("user", "hé")),
                        true),
                r.prompt());
        assertEquals("", r.salt().value());
        assertNull(r.salt().toSend());
    }

    @Test
    void texts_that_nobody_looks_at_stay_in_the_body() {
        Buffer body =
                Buffer.buffer(
                        "{\"model\":\"m\",\"stream\":true,\"nvext\":{\"agent_hints\":{\"osl\":9}},"
                                + USER
                                + "}");
        InferenceRequest later = unread(body, false);
        ChatRequest read = assertInstanceOf(Conversation.class, later.prompt()).source().get();
        assertEquals(List.of(Map.of("role", "user", "content", "hi")), read.messages());
        assertEquals(parse(Endpoint.CHAT, body).hints(), later.hints());
        assertEquals(parse(Endpoint.CHAT, body).edits(), later.edits());
        assertTrue(later.stream());
        // But for who has asked what became of them.
        assertInstanceOf(PromptInput.Chat.class, unread(body, true).prompt());
    }

    @ParameterizedTest
    @CsvSource({
        "CHAT,'\"n\":2,',2,",
        "CHAT,'\"n\":0,',1,",
        "CHAT,'\"n\":99999999999,',2147483647,",
        "CHAT,'\"n\":null,',1,",
        "CHAT,'',1,",
        "CHAT,'\"prompt_logprobs\":0,',1,PROMPT_LOGPROBS",
        "CHAT,'\"prompt_logprobs\":null,',1,",
        "CHAT,'\"echo\":true,\"logprobs\":true,',1,", // nobody answers with the prompt's
        "CHAT,'\"extra_key\":\"k\",',1,EXTRA_KEY",
        "CHAT,'\"truncate_prompt_tokens\":5,\"n\":3,',3,PROMPT_HIDDEN",
        "COMPLETIONS,'\"echo\":true,\"logprobs\":1,',1,PROMPT_LOGPROBS",
        "COMPLETIONS,'\"echo\":true,\"logprobs\":null,',1,",
        "COMPLETIONS,'\"echo\":false,\"logprobs\":1,',1,",
        "COMPLETIONS,'\"tools\":[1],',1,PROMPT_HIDDEN",
        "COMPLETIONS,'\"logprobs\":1,',1,",
        "SCORES,'\"n\":2,\"extra_key\":\"k\",',1,OTHER_API",
        "EMBEDDINGS,'',1,OTHER_API",
        "EMBEDDINGS,'\"input\":\"hi\",\"lora_path\":\"a\",',1,PROMPT_HIDDEN",
        "EMBEDDINGS,'\"input\":\"hi\",\"prompt_logprobs\":1,',1,"
    })
    void what_cannot_be_predicted_of_a_request_is_known(
            Endpoint endpoint, String members, int answers, NotExact why) {
        String prompt = endpoint == Endpoint.CHAT ? USER : "\"prompt\":\"hi\"";
        // A name with an escape is left to the slow reader.
        for (String model : new String[] {"model", "mode\\u006c"}) {
            String body = "{\"" + model + "\":\"m\"," + members + prompt + "}";
            InferenceRequest request = parse(endpoint, Buffer.buffer(body));
            assertEquals(answers, request.form().answers(), body);
            assertEquals(why, request.form().notExact(), body);
            boolean whole = answers > 1 || why == NotExact.PROMPT_LOGPROBS;
            assertEquals(whole, request.form().isUndivided(), body);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'\"a\"',1",
        "'[\"a\"]',1",
        "'[\"a\",\"b\"]',2",
        "'[1,2]',1",
        "'[[1,2]]',1",
        "'[[1,2],[3],[4]]',3",
        "'[\"a\",[1]]',2"
    })
    void each_of_several_prompts_is_read(String prompt, int prompts) {
        for (String model : new String[] {"model", "mode\\u006c"}) {
            String body = "{\"" + model + "\":\"m\",\"%s\":" + prompt + "}";
            for (String[] api :
                    new String[][] {{"prompt", "COMPLETIONS"}, {"input", "EMBEDDINGS"}}) {
                InferenceRequest request =
                        parse(Endpoint.valueOf(api[1]), Buffer.buffer(body.formatted(api[0])));
                assertEquals(prompts, request.form().prompts(), body);
                assertEquals(prompts > 1, request.prompt() instanceof PromptInput.Several, body);
                assertNull(request.form().notExact(), body);
            }
        }
    }

    @Test
    void prompts_that_are_none_or_too_many_are_for_the_engine() {
        String many = "[" + "\"a\",".repeat(PromptReader.MOST_PROMPTS) + "\"a\"]";
        for (String prompt : List.of("[\"a\",{\"b\":1}]", many)) {
            InferenceRequest request = completion("\"prompt\":" + prompt);
            assertInstanceOf(PromptInput.Opaque.class, request.prompt());
            assertEquals(NotExact.SEVERAL_PROMPTS, request.form().notExact());
            assertTrue(request.form().isSeveral());
        }
        for (String prompt : List.of("[]", "[null]", "[{}]", "{}")) {
            assertEquals(
                    "prompt",
                    refused(Endpoint.COMPLETIONS, "{\"model\":\"m\",\"prompt\":" + prompt + "}")
                            .param());
            InferenceRequest passed =
                    parse(
                            Endpoint.EMBEDDINGS,
                            Buffer.buffer("{\"model\":\"m\",\"input\":" + prompt + "}"));
            assertEquals(NotExact.OTHER_API, passed.form().notExact());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'\"max_tokens\":9,',9",
        "'\"max_completion_tokens\":9,',9",
        "'\"max_tokens\":9,\"max_completion_tokens\":7,',7",
        "'\"max_tokens\":9,\"max_tokens\":12,',12",
        "'\"max_tokens\":9,\"max_tokens\":null,',0",
        "'\"max_tokens\":0,',0",
        "'\"max_tokens\":-4,',0",
        "'\"max_tokens\":99999999999,',0",
        "'',0"
    })
    void how_long_the_client_lets_an_answer_be_is_known(String member, int most) {
        // The second way of writing a name is left to the slow reader.
        for (String name : new String[] {"\"max", "\"\\u006dax"}) {
            String body = "{\"model\":\"m\"," + member.replace("\"max", name) + USER + "}";
            InferenceRequest request = parse(Endpoint.CHAT, Buffer.buffer(body));
            assertEquals(most, request.form().mostTokens(), body);
        }
    }

    private static InferenceRequest unread(Buffer body, boolean explain) {
        MultiMap none = MultiMap.caseInsensitiveMultiMap();
        return RequestParser.parse(
                Endpoint.CHAT,
                "id",
                "/x",
                none,
                body,
                new RequestParser.Terms(explain, false, true));
    }

    /**
     * `stream_options` was once checked but not read over, and every request with it was refused.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"stream_options\":{\"include_usage\":true,\"x\":{\"y\":[]}}",
                "\"nvext\":{\"agent_hints\":{\"priority\":1},\"extra_fields\":[\"timing\"]}",
                "\"logit_bias\":{\"1\":{}}",
                "\"response_format\":{\"type\":\"json_object\"}"
            })
    void what_follows_an_object_is_read(String member) {
        InferenceRequest r = chat(member + "," + USER + ",\"stream\":true");
        assertTrue(r.stream());
        assertInstanceOf(PromptInput.Chat.class, r.prompt());
    }

    @Test
    void bad_json_is_told_with_its_place_and_nothing_of_the_parser() {
        String message = refused(Endpoint.CHAT, "{\"model\":\"demo\"").message();
        assertTrue(message.contains("(line 1, column 16)"), message);
        assertTrue(message.contains("start marker at line: 1, column: 1)"), message);
        assertFalse(message.contains("Source") || message.contains("StreamRead"), message);
    }

    @Test
    void prompts_in_all_their_forms() {
        assertEquals(new PromptInput.Text("a"), completion("\"prompt\":\"a\"").prompt());
        assertEquals(new PromptInput.Text("a"), completion("\"prompt\":[\"a\"]").prompt());
        assertIds(completion("\"prompt\":[1,2,4294967295]"), 1, 2, -1);
        assertIds(completion("\"prompt\":[[7,8]]"), 7, 8);
        StringBuilder many = new StringBuilder("\"prompt\":[0");
        for (int i = 1; i < 5000; i++) {
            many.append(',').append(i);
        }
        InferenceRequest r = completion(many.append(']').toString());
        int[] ids = assertInstanceOf(PromptInput.Ids.class, r.prompt()).tokens();
        assertEquals(5000, ids.length);
        assertEquals(4999, ids[4999]);
    }

    private static void assertIds(InferenceRequest r, int... ids) {
        assertArrayEquals(ids, assertInstanceOf(PromptInput.Ids.class, r.prompt()).tokens());
    }

    private static void assertOpaque(InferenceRequest r) {
        assertInstanceOf(PromptInput.Opaque.class, r.prompt(), r::toString);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"chat_template\":\"x\"",
                "\"functions\":[{}]",
                "\"reasoning\":{\"effort\":\"low\"}",
                "\"add_special_tokens\":true",
                "\"add_special_tokens\":false",
                "\"lora_path\":\"a\"",
            })
    void what_changes_the_tokens_unseen_makes_the_prompt_opaque(String member) {
        assertOpaque(chat(USER + "," + member));
        assertOpaque(chat(member + "," + USER));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"tools\":[{\"type\":\"function\"}]",
                "\"tools\":[]",
                "\"chat_template_kwargs\":{\"enable_thinking\":false}",
                "\"continue_final_message\":true",
                "\"reasoning_effort\":\"low\"",
                "\"documents\":[[1,[2]],{}]",
            })
    void what_reaches_a_template_is_read_when_the_tokens_are_wanted(String member) {
        assertConversation(chat(USER + "," + member));
        assertConversation(chat(member + "," + USER));
        assertOpaque(completion("\"prompt\":\"a\"," + member));
    }

    private static ChatRequest assertConversation(InferenceRequest r) {
        return assertInstanceOf(PromptInput.Conversation.class, r.prompt(), r::toString)
                .source()
                .get();
    }

    @Test
    void all_that_reaches_a_template_is_read_as_it_was_written() {
        ChatRequest chat =
                assertConversation(
                        chat(
                                "\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],"
                                        + "\"role\":\"user\",\"x\":null}],\"tools\":[{\"b\":1,\"a\":2.0}],"
                                        + "\"tool_choice\":\"auto\",\"documents\":[],"
                                        + "\"add_generation_prompt\":false,"
                                        + "\"continue_final_message\":true,"
                                        + "\"chat_template_kwargs\":{\"n\":123456789012345678901},"
                                        + "\"reasoning_effort\":\"low\",\"temperature\":1"));
        assertEquals(
                "ChatRequest[messages=[{content=[{type=text, text=a}], role=user, x=null}],"
                        + " tools=[{b=1, a=2.0}], toolChoice=auto, documents=[],"
                        + " addGenerationPrompt=false, continueFinalMessage=true,"
                        + " arguments={n=123456789012345678901}, reasoningEffort=low]",
                chat.toString());
    }

    @Test
    void a_member_for_the_template_of_another_type_gives_no_chat() {
        IllegalArgumentException refused =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> assertConversation(chat(USER + ",\"tools\":{\"a\":1}")));
        assertEquals("`tools` must be an array, but it is an object.", refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"tools\":null",
                "\"chat_template_kwargs\":{}",
                "\"continue_final_message\":false",
                "\"tool_choice\":\"auto\"",
            })
    void their_empty_forms_do_not(String member) {
        assertInstanceOf(PromptInput.Chat.class, chat(USER + "," + member).prompt());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
                        + "{\"type\":\"text\",\"text\":\"b\"}]}",
                "{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{}}]}",
                "{\"role\":\"user\",\"content\":[]}",
                "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"1\"}]}",
                "{\"role\":\"tool\",\"content\":\"1\",\"tool_call_id\":\"1\"}",
                "{\"role\":\"assistant\",\"content\":null}",
                "{\"role\":\"user\",\"content\":\"a\",\"name\":\"x\"}",
            })
    void messages_of_more_than_roles_and_texts_are_read_when_the_tokens_are_wanted(String message) {
        assertEquals(
                1, assertConversation(chat("\"messages\":[" + message + "]")).messages().size());
    }

    @Test
    void the_last_of_two_equal_members_counts() {
        InferenceRequest r =
                parse(
                        Endpoint.CHAT,
                        "{\"model\":\"a\",\"messages\":[{\"role\":\"u\",\"content\":[]}],"
                                + "\"model\":\"b\","
                                + USER
                                + "}");
        assertEquals("b", r.model());
        assertInstanceOf(PromptInput.Chat.class, r.prompt());
    }

    /**
     * Members in any order, beside members whose values hold the same names: only the top level
     * counts. (A stream_options that was checked but not stepped over once ended the object early.)
     */
    @Test
    void members_are_found_in_any_order_and_at_the_top_level_only() {
        String decoy =
                "{\"model\":\"no\",\"stream\":false,\"messages\":7,\"cache_salt\":\"no\",\"tools\":[1],"
                        + "\"nvext\":{\"dp_rank\":9},\"max_tokens\":\"no\"}";
        List<String> members =
                new ArrayList<>(
                        List.of(
                                "\"model\":\"m\"",
                                "\"stream\":true",
                                "\"stream_options\":{\"include_usage\":true,\"x\":" + decoy + "}",
                                "\"cache_salt\":\"s\"",
                                "\"nvext\":{\"dp_rank\":1,\"later\":[" + decoy + "],\"x\":{}}",
                                "\"max_tokens\":5",
                                "\"tools\":null",
                                "\"chat_template_kwargs\":{}",
                                "\"prompt\":" + decoy,
                                "\"response_format\":" + decoy,
                                "\"logit_bias\":{}",
                                "\"x\":[" + decoy + ",[[" + decoy + "]]]",
                                "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"));
        long seed = 5;
        Random random = new Random(seed);
        for (int round = 0; round < 500; round++) {
            Collections.shuffle(members, random);
            String json = "{" + String.join(",", members) + "}\n";
            InferenceRequest r = parse(Endpoint.CHAT, json);
            assertEquals("m", r.model(), json);
            assertTrue(r.stream(), json);
            assertEquals("s", r.salt().value(), json);
            assertEquals(OptionalInt.of(1), r.routing().pinnedRank(), json);
            assertEquals(
                    new PromptInput.Chat(List.of(new Message("user", "hi")), true),
                    r.prompt(),
                    json);
        }
    }

    @Test
    void bad_json_names_its_position() {
        GatewayError.BadRequest e = refused(Endpoint.CHAT, "{\"model\":\"m\",\n \"messages\":[{,");
        assertTrue(e.message().contains("line 2, column 15"), e.message());
        assertTrue(e.message().startsWith("The request body is not valid JSON"), e.message());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "|",
                "[]|",
                "null|",
                "\"x\"|",
                "{\"model\":\"m\"|",
                "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a|",
                "{} {}|",
                "{\"messages\":[{\"role\":\"u\",\"content\":\"a\"}]}|model",
                "{\"model\":\"\",\"messages\":[{\"role\":\"u\",\"content\":\"a\"}]}|model",
                "{\"model\":7}|model",
                "{\"model\":null,\"messages\":[{\"role\":\"u\",\"content\":\"a\"}]}|model",
                "{\"model\":\"m\"}|messages",
                "{\"model\":\"m\",\"messages\":null}|messages",
                "{\"model\":\"m\",\"messages\":[]}|messages",
                "{\"model\":\"m\",\"messages\":{}}|messages",
                "{\"model\":\"m\",\"messages\":\"hi\"}|messages",
                "{\"model\":\"m\",\"messages\":[7]}|messages[0]",
                "{\"model\":\"m\",\"messages\":[{\"content\":\"x\"}]}|messages[0].role",
                "{\"model\":\"m\",\"messages\":[{\"role\":1,\"content\":\"x\"}]}|messages[0].role",
                "{\"model\":\"m\",\"messages\":[{\"role\":\"u\",\"content\":7}]}|messages[0].content",
                "{\"model\":\"m\",\"max_tokens\":\"many\"}|max_tokens",
                "{\"model\":\"m\",\"max_tokens\":1.5}|max_tokens",
                "{\"model\":\"m\",\"max_completion_tokens\":true}|max_completion_tokens",
                "{\"model\":\"m\",\"stream\":\"yes\"}|stream",
                "{\"model\":\"m\",\"stream_options\":[]}|stream_options",
                "{\"model\":\"m\",\"cache_salt\":7}|cache_salt",
                "{\"model\":\"m\",\"nvext\":[]}|nvext",
                "{\"model\":\"m\",\"nvext\":{\"token_data\":[-1]}}|nvext.token_data",
                "{\"model\":\"m\",\"nvext\":{\"token_data\":[1.0]}}|nvext.token_data",
                "{\"model\":\"m\",\"nvext\":{\"dp_rank\":-1}}|nvext.dp_rank",
                "{\"model\":\"m\",\"nvext\":{\"backend_instance_id\":\"a\"}}|nvext.backend_instance_id",
                "{\"model\":\"m\",\"routed_dp_rank\":\"0\"}|routed_dp_rank",
                "{\"model\":\"m\",\"nvext\":{\"router_config_override\":[]}}"
                        + "|nvext.router_config_override",
                "{\"model\":\"m\",\"nvext\":{\"router_config_override\":{\"router_temperature\":\"1\"}}}"
                        + "|nvext.router_config_override.router_temperature",
                "{\"model\":\"m\",\"nvext\":{\"router_config_override\":{\"overlap_score_credit\":-1}}}"
                        + "|nvext.router_config_override.overlap_score_credit",
                "{\"model\":\"m\",\"nvext\":{\"router_config_override\":{\"prefill_load_scale\":1e999}}}"
                        + "|nvext.router_config_override.prefill_load_scale",
                "{\"model\":\"m\",\"nvext\":{\"router_config_override\":{\"shared_cache_multiplier\":1.1}}}"
                        + "|nvext.router_config_override.shared_cache_multiplier",
                "{\"model\":\"m\",\"nvext\":{\"router_config_override\":{\"assume_kv_reuse\":1}}}"
                        + "|nvext.router_config_override.assume_kv_reuse",
                "{\"model\":\"m\",\"nvext\":{\"router_config_override\":{\"track_prefill_tokens\":\"no\"}}}"
                        + "|nvext.router_config_override.track_prefill_tokens",
                "{\"model\":\"m\",\"nvext\":{\"agent_hints\":7}}|nvext.agent_hints",
                "{\"model\":\"m\",\"nvext\":{\"agent_hints\":{\"priority\":1.5}}}"
                        + "|nvext.agent_hints.priority",
                "{\"model\":\"m\",\"nvext\":{\"agent_hints\":{\"osl\":-1}}}|nvext.agent_hints.osl",
            })
    void bad_chat_bodies_are_refused_by_name(String json, String param) {
        GatewayError.BadRequest e = refused(Endpoint.CHAT, json == null ? "" : json);
        assertEquals(param == null ? "" : param, e.param());
        assertFalse(e.message().isBlank());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"model\":\"m\"}",
                "{\"model\":\"m\",\"prompt\":null}",
                "{\"model\":\"m\",\"prompt\":[]}",
                "{\"model\":\"m\",\"prompt\":7}",
                "{\"model\":\"m\",\"prompt\":[{}]}",
                "{\"model\":\"m\",\"prompt\":[4294967296]}",
                "{\"model\":\"m\",\"prompt\":[1,\"a\"]}",
            })
    void bad_prompts_are_refused(String json) {
        assertTrue(refused(Endpoint.COMPLETIONS, json).param().startsWith("prompt"), json);
    }

    @Test
    void other_encodings_and_broken_utf_8_are_refused() {
        String json = "{\"model\":\"m\"," + USER + "}";
        for (var charset : List.of(StandardCharsets.UTF_16BE, StandardCharsets.UTF_16LE)) {
            assertThrows(
                    GatewayException.class,
                    () -> parse(Endpoint.CHAT, Buffer.buffer(json.getBytes(charset))));
        }
        byte[] broken = json.getBytes(StandardCharsets.UTF_8);
        broken[json.indexOf("hi")] = (byte) 0xff;
        assertThrows(GatewayException.class, () -> parse(Endpoint.CHAT, Buffer.buffer(broken)));
    }

    @Test
    void deep_nesting_is_refused_and_long_strings_are_not() {
        String deep = "[".repeat(5000) + "]".repeat(5000);
        refused(Endpoint.CHAT, "{\"model\":\"m\",\"x\":" + deep + "," + USER + "}");
        String text = "y".repeat(25_000_000);
        PromptInput prompt = completion("\"prompt\":\"" + text + "\"").prompt();
        assertEquals(text, assertInstanceOf(PromptInput.Text.class, prompt).text());
    }

    @Test
    void a_body_cut_at_any_byte_is_refused_and_never_crashes() {
        String json =
                "{\"model\":\"m\",\"nvext\":{\"token_data\":[1,2],\"dp_rank\":0},\"tools\":[{\"a\":1}],"
                        + "\"documents\":[[1]],\"cache_salt\":\"s\","
                        + USER
                        + "}";
        parse(Endpoint.CHAT, json);
        for (int cut = 0; cut < json.length(); cut++) {
            refused(Endpoint.CHAT, json.substring(0, cut));
        }
    }

    @Test
    void random_damage_is_refused_or_read_and_never_crashes() {
        String json =
                "{\"model\":\"m\",\"stream\":true,\"nvext\":{\"token_data\":[1,2]},\"prompt\":[[1,2],[3]],"
                        + "\"cache_salt\":\"s\",\"routed_dp_rank\":0,"
                        + USER
                        + "}";
        long seed = 99;
        Random random = new Random(seed);
        int read = 0;
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
            for (int i = 0; i <= random.nextInt(3); i++) {
                bytes[random.nextInt(bytes.length)] =
                        (byte) "{}[],:\"0a\\ \u0000".charAt(random.nextInt(12));
            }
            try {
                parse(
                        random.nextBoolean() ? Endpoint.CHAT : Endpoint.COMPLETIONS,
                        Buffer.buffer(bytes));
                read++;
            } catch (GatewayException e) {
                assertInstanceOf(GatewayError.BadRequest.class, e.error(), "seed " + seed);
            }
        }
        assertTrue(read > 100, "some damage is harmless, seed " + seed);
    }

    @Test
    void hints_come_from_headers_then_nvext_then_the_top_level() {
        InferenceRequest r =
                chat(
                        USER
                                + ",\"cache_salt\":\"top\",\"nvext\":{\"backend_instance_id\":"
                                + "18446744073709551615,\"dp_rank\":2,\"cache_salt\":\"ext\"}");
        assertEquals(OptionalLong.of(-1), r.routing().pinnedWorker());
        assertEquals(OptionalInt.of(2), r.routing().pinnedRank());
        assertEquals("ext", r.salt().value());
        assertEquals("ext", r.salt().toSend());
        InferenceRequest h =
                chat(
                        USER + ",\"nvext\":{\"backend_instance_id\":1,\"dp_rank\":2}",
                        "x-worker-instance-id",
                        "9",
                        "x-dp-rank",
                        "3",
                        "x-tenant-id",
                        "t");
        assertEquals(OptionalLong.of(9), h.routing().pinnedWorker());
        assertEquals(OptionalInt.of(3), h.routing().pinnedRank());
        assertEquals("t", h.salt().value());
    }

    @Test
    void every_override_is_read_and_unknown_ones_are_stepped_over() {
        InferenceRequest r =
                chat(
                        USER
                                + ",\"nvext\":{\"router_config_override\":{\"overlap_score_credit\":2,"
                                + "\"prefill_load_scale\":0.5,\"overlap_score_weight\":3,"
                                + "\"shared_cache_multiplier\":1,\"router_temperature\":0.25,"
                                + "\"assume_kv_reuse\":false,\"track_prefill_tokens\":true,"
                                + "\"later\":{\"x\":[]}},\"dp_rank\":1}");
        assertEquals(
                new RouterOverrides(2.0, 0.5, 3.0, 1.0, 0.25, false, true),
                r.routing().overrides());
        assertEquals(OptionalInt.of(1), r.routing().pinnedRank());
        String none = ",\"nvext\":{\"router_config_override\":{\"overlap_score_credit\":null}}";
        assertEquals(RouterOverrides.NONE, chat(USER + none).routing().overrides());
        assertEquals(RouterOverrides.NONE, chat(USER).routing().overrides());
    }

    @Test
    void token_data_replaces_the_text() {
        assertIds(chat(USER + ",\"nvext\":{\"token_data\":[5,6]}"), 5, 6);
    }

    @Test
    void a_rank_in_the_body_is_a_pin_and_must_not_contradict_a_header() {
        InferenceRequest r = chat(USER + ",\"routed_dp_rank\":1");
        assertEquals(OptionalInt.of(1), r.routing().pinnedRank());
        assertTrue(r.edits().hasRank());
        assertThrows(
                GatewayException.class,
                () -> chat(USER + ",\"routed_dp_rank\":1", "x-dp-rank", "0"));
    }

    @Test
    void wrong_headers_are_refused() {
        for (String name : List.of("x-worker-instance-id", "x-dp-rank", "x-dynamo-dp-rank")) {
            assertThrows(GatewayException.class, () -> chat(USER, name, "seven"), name);
            assertThrows(GatewayException.class, () -> chat(USER, name, "-1"), name);
        }
    }

    @Test
    void edit_offsets_are_those_of_the_bytes() {
        String json = " \n{ \"é\":1,\"cache_salt\" : \"ab\\n\" ,\"model\":\"m\"," + USER + "}";
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        InferenceRequest r = parse(Endpoint.CHAT, json);
        assertEquals('{', bytes[r.edits().afterBrace() - 1]);
        String value =
                new String(
                        bytes,
                        r.edits().cacheSalt().start(),
                        r.edits().cacheSalt().end() - r.edits().cacheSalt().start(),
                        StandardCharsets.UTF_8);
        assertEquals("\"ab\\n\"", value);
    }
}
