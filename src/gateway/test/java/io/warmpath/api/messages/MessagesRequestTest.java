package io.warmpath.api.messages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What becomes of each member of a request. Single quotes stand for double ones. */
class MessagesRequestTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String HEAD = "'model':'m','max_tokens':5,";
    private static final String HI = "'messages':[{'role':'user','content':'Hi'}]";

    private static MessagesRequest.Translated translate(String members, boolean toCount) {
        return translate(members, toCount, true);
    }

    private static MessagesRequest.Translated translate(
            String members, boolean toCount, boolean laterSystem) {
        return MessagesRequest.translate(
                Buffer.buffer(("{" + members + "}").replace('\'', '"')),
                toCount,
                model -> laterSystem && model.equals("m"));
    }

    private static JsonNode chat(String members) throws Exception {
        return JSON.readTree(translate(HEAD + members, false).chat().getBytes());
    }

    private static JsonNode json(String text) throws Exception {
        return JSON.readTree(text.replace('\'', '"'));
    }

    private static String call(String id, String name, String arguments) {
        return "{'id':'%s','type':'function','function':{'name':'%s','arguments':%s}}"
                .formatted(id, name, arguments);
    }

    private static GatewayError.BadRequest refused(String members) {
        GatewayException e =
                assertThrows(GatewayException.class, () -> translate(members, false), members);
        return assertInstanceOf(GatewayError.BadRequest.class, e.error());
    }

    @Test
    void a_plain_chat_is_the_same_chat() throws Exception {
        assertEquals(
                json("{'model':'m','max_tokens':5," + HI + "}"), chat(HI), "nothing else is added");
    }

    @Test
    void later_system_messages_go_to_the_front_where_the_template_takes_none_behind_others()
            throws Exception {
        String asked =
                "'messages':[{'role':'user','content':'Hi'},{'role':'system','content':[{'type':'text',"
                        + "'text':'Be brief.'},{'type':'text','text':'x-anthropic-billing-header: 1'}]},"
                        + "{'role':'assistant','content':'Hello'},{'role':'user','content':'Why?'},"
                        + "{'role':'system','content':'Be kind.'}]";
        String others =
                "{'role':'user','content':'Hi'},{'role':'assistant','content':'Hello'},"
                        + "{'role':'user','content':'Why?'}";
        assertEquals(
                json("[{'role':'system','content':'Be.\\nBe brief.\\nBe kind.'}," + others + "]"),
                inFront("'system':'Be.'," + asked));
        assertEquals(
                json("[{'role':'system','content':'Be brief.\\nBe kind.'}," + others + "]"),
                inFront(asked));
        String first = asked.replaceFirst("\\[", "[{'role':'system','content':'Be.'},");
        assertEquals(
                json("[{'role':'system','content':'Be.\\nBe brief.\\nBe kind.'}," + others + "]"),
                inFront(first));
        assertEquals(
                json(
                        "[{'role':'system','content':'Be.'},{'role':'user','content':'Hi'},"
                                + "{'role':'system','content':'Be brief.'},"
                                + "{'role':'assistant','content':'Hello'},{'role':'user','content':'Why?'},"
                                + "{'role':'system','content':'Be kind.'}]"),
                chat("'system':'Be.'," + asked).get("messages"),
                "where it takes them they stay");
    }

    private static JsonNode inFront(String members) throws Exception {
        return JSON.readTree(translate(HEAD + members, false, false).chat().getBytes())
                .get("messages");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "'stop_sequences':['a','b'] | 'stop':['a','b']",
                "'temperature':0.5,'top_p':0.25,'top_k':7 |"
                        + " 'temperature':0.5,'top_p':0.25,'top_k':7",
                "'stream':true | 'stream':true,'stream_options':{'include_usage':true}",
                "'stream':false |",
                "'metadata':{'user_id':'u'} | 'user':'u'",
                "'thinking':{'type':'enabled','budget_tokens':9} |"
                        + " 'chat_template_kwargs':{'enable_thinking':true,'thinking':true}",
                "'thinking':{'type':'adaptive'} |"
                        + " 'chat_template_kwargs':{'enable_thinking':true,'thinking':true}",
                "'thinking':{'type':'disabled'} |"
                        + " 'chat_template_kwargs':{'enable_thinking':false,'thinking':false}",
                "'thinking':{'type':'enabled'},'chat_template_kwargs':{'thinking':false,'x':1} |"
                        + " 'chat_template_kwargs':{'enable_thinking':true,'thinking':false,'x':1}",
                "'output_config':{'effort':'medium'} | 'reasoning_effort':'medium'",
                "'output_config':{'effort':'max'} | 'reasoning_effort':'high'",
                "'output_config':{'format':{'type':'json_schema','schema':{'a':1}}} |"
                        + " 'response_format':{'type':'json_schema','json_schema':"
                        + "{'name':'answer','schema':{'a':1}}}",
                "'tools':[],'tool_choice':{'type':'auto'} |",
                "'service_tier':'auto','mcp_servers':[],'context_management':{} |",
                "'nvext':{'dp_rank':0},'cache_salt':'s','seed':1,'ignore_eos':true |"
                        + " 'nvext':{'dp_rank':0},'cache_salt':'s','seed':1,'ignore_eos':true",
                "'n':2,'max_completion_tokens':9,'stream_options':{} |",
            })
    void members_become(String given, String expected) throws Exception {
        String more = expected == null ? "" : "," + expected;
        assertEquals(json("{" + HEAD + HI + more + "}"), chat(given + "," + HI));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "'S' | 'S'",
                "[{'type':'text','text':'S','cache_control':{'type':'ephemeral'}}] | 'S'",
                "[{'type':'text','text':'S'},{'type':'text','text':'T'}] | 'S\\nT'",
                "[{'type':'text','text':'x-anthropic-billing-header: cch=1;'},"
                        + "{'type':'text','text':'S'}] | 'S'",
            })
    void the_system_prompt_comes_first(String system, String expected) throws Exception {
        JsonNode messages = chat("'system':" + system + "," + HI).get("messages");
        assertEquals(
                json(
                        "[{'role':'system','content':"
                                + expected
                                + "},{'role':'user','content':'Hi'}]"),
                messages);
        assertEquals(1, chat("'system':''," + HI).get("messages").size());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "[{'type':'text','text':'a'},{'type':'text','text':'b'}] | 'a\\nb'",
                "[{'type':'text','text':'a'},{'type':'image','source':{'type':'base64',"
                        + "'media_type':'image/png','data':'QQ=='}}] | [{'type':'text','text':'a'},"
                        + "{'type':'image_url','image_url':{'url':'data:image/png;base64,QQ=='}}]",
                "[{'type':'image','source':{'type':'url','url':'http://x/y'}}] |"
                        + " [{'type':'image_url','image_url':{'url':'http://x/y'}}]",
                "[{'type':'document','title':'t','source':{'type':'text','data':'d'}},"
                        + "{'type':'document','source':{'type':'content','content':"
                        + "[{'type':'text','text':'e'}]}}] | 'd\\ne'",
            })
    void what_users_say(String content, String expected) throws Exception {
        assertEquals(
                json("[{'role':'user','content':" + expected + "}]"),
                chat("'messages':[{'role':'user','content':" + content + "}]").get("messages"));
    }

    @Test
    void calls_and_results_of_tools() throws Exception {
        String given =
                "'messages':[{'role':'user','content':'Q'},{'role':'assistant','content':["
                        + "{'type':'thinking','thinking':'hm','signature':'s'},"
                        + "{'type':'redacted_thinking','data':'x'},"
                        + "{'type':'text','text':'Let '},{'type':'text','text':'me'},"
                        + "{'type':'tool_use','id':'t1','name':'f','input':{'b':1.50,'a':'é'}},"
                        + "{'type':'tool_use','id':'t2','name':'g','input':{}}]},"
                        + "{'role':'user','content':["
                        + "{'type':'tool_result','tool_use_id':'t1','content':'r'},"
                        + "{'type':'tool_result','tool_use_id':'t2','is_error':true,'content':["
                        + "{'type':'text','text':'x'},{'type':'text','text':'y'},"
                        + "{'type':'image','source':{'type':'url','url':'http://i'}}]},"
                        + "{'type':'text','text':'and?'}]}]";
        assertEquals(
                json(
                        "[{'role':'user','content':'Q'},{'role':'assistant','content':'Let me',"
                                + "'reasoning_content':'hm','tool_calls':["
                                + call("t1", "f", "'{\\'b\\':1.50,\\'a\\':\\'é\\'}'")
                                + ","
                                + call("t2", "g", "'{}'")
                                + "]},{'role':'tool','content':'r','tool_call_id':'t1'},"
                                + "{'role':'tool','content':'x\\ny','tool_call_id':'t2'},"
                                + "{'role':'user','content':["
                                + "{'type':'image_url','image_url':{'url':'http://i'}},"
                                + "{'type':'text','text':'and?'}]}]"),
                chat(given).get("messages"));
    }

    @Test
    void results_alone_make_no_message_of_the_user() throws Exception {
        JsonNode messages =
                chat("'messages':[{'role':'user','content':[{'type':'tool_result',"
                                + "'tool_use_id':'t'}]}]")
                        .get("messages");
        assertEquals(json("[{'role':'tool','content':'','tool_call_id':'t'}]"), messages);
    }

    @Test
    void a_call_without_words_has_no_content() throws Exception {
        JsonNode said =
                chat("'messages':[{'role':'assistant','content':[{'type':'tool_use','id':'t',"
                                + "'name':'f','input':{}}]}]")
                        .get("messages")
                        .get(0);
        assertTrue(said.get("content").isNull(), said::toString);
    }

    @Test
    void an_answer_at_the_end_is_gone_on_with() throws Exception {
        JsonNode chat =
                chat(
                        "'messages':[{'role':'user','content':'Hi'},"
                                + "{'role':'assistant','content':'Hel'}]");
        assertEquals(json("true"), chat.get("continue_final_message"));
        assertEquals(json("false"), chat.get("add_generation_prompt"));
        assertFalse(chat(HI).has("continue_final_message"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "{'type':'auto'} | 'tool_choice':'auto'",
                "{'type':'none'} | 'tool_choice':'none'",
                "{'type':'any'} | 'tool_choice':'required'",
                "{'type':'tool','name':'f'} |"
                        + " 'tool_choice':{'type':'function','function':{'name':'f'}}",
                "{'type':'auto','disable_parallel_tool_use':true} |"
                        + " 'tool_choice':'auto','parallel_tool_calls':false",
            })
    void tools_and_their_choice(String choice, String expected) throws Exception {
        String tool =
                "'tools':[{'name':'f','description':'d','input_schema':{'type':'object',"
                        + "'properties':{'z':{},'a':{}}}},"
                        + "{'type':'custom','name':'g','input_schema':{}}]";
        String tools =
                "'tools':[{'type':'function','function':{'name':'f','description':'d',"
                        + "'parameters':{'type':'object','properties':{'z':{},'a':{}}}}},"
                        + "{'type':'function','function':{'name':'g','parameters':{}}}]";
        JsonNode chat = chat(tool + ",'tool_choice':" + choice + "," + HI);
        assertEquals(json("{" + HEAD + HI + "," + tools + "," + expected + "}"), chat);
        assertEquals(
                "[\"z\",\"a\"]",
                JSON.writeValueAsString(
                        chat.at("/tools/0/function/parameters/properties").properties().stream()
                                .map(p -> p.getKey())
                                .toList()),
                "the order of members reaches the template");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "'model':'m'," + HI + " | max_tokens",
                "'model':'m','max_tokens':0," + HI + " | max_tokens",
                "'model':'m','max_tokens':'x'," + HI + " | max_tokens",
                HEAD + "'x':1 | messages",
                HEAD + "'messages':[] | messages",
                HEAD + "'messages':[{'content':'a'}] | messages[0].role",
                HEAD + "'messages':[{'role':'tool','content':'a'}] | messages[0].role",
                HEAD + "'messages':[{'role':'user'}] | messages[0].content",
                HEAD
                        + "'messages':[{'role':'user','content':[{'type':'video'}]}] |"
                        + " messages[0].content[0].type",
                HEAD
                        + "'messages':[{'role':'user','content':[{'type':'text'}]}] |"
                        + " messages[0].content[0].text",
                HEAD + "'messages':[{'role':'user','content':['a']}] | messages[0].content[0]",
                HEAD
                        + "'messages':[{'role':'user','content':[{'type':'image','source':"
                        + "{'type':'file','file_id':'f'}}]}] | messages[0].content[0].source.type",
                HEAD
                        + "'messages':[{'role':'assistant','content':[{'type':'tool_use','id':'i',"
                        + "'name':'f','input':'x'}]}] | messages[0].content[0].input",
                HEAD + HI + ",'system':7 | system",
                HEAD + HI + ",'tools':[{'type':'web_search_20250305','name':'w'}] | tools[0].type",
                HEAD + HI + ",'tools':[{'name':'w'}] | tools[0].input_schema",
                HEAD + HI + ",'tool_choice':{'type':'any'} | tool_choice",
                HEAD + HI + ",'tool_choice':{'type':'x'} | tool_choice.type",
                HEAD + HI + ",'stop_sequences':[1] | stop_sequences[0]",
                HEAD + HI + ",'mcp_servers':[{'url':'u'}] | mcp_servers",
                HEAD + HI + ",'stream':'yes' | stream",
            })
    void what_cannot_be_translated_is_refused_by_its_path(String body, String param) {
        assertEquals(param, refused(body).param());
    }

    @Test
    void what_is_not_json_is_refused() {
        assertTrue(refused("'model':").message().contains("not valid JSON"));
        GatewayException behind =
                assertThrows(
                        GatewayException.class,
                        () -> MessagesRequest.translate(Buffer.buffer("{} x"), false, m -> true));
        assertEquals(400, behind.error().httpStatus());
    }

    @Test
    void half_a_surrogate_pair_and_long_numbers_survive() throws Exception {
        JsonNode chat =
                chat(
                        "'x':12345678901234567890123,'messages':[{'role':'user',"
                                + "'content':'é\\ud800'}]");
        assertEquals("é\ud800", chat.at("/messages/0/content").asText());
        assertEquals("12345678901234567890123", chat.get("x").asText());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "'cache_control':{'type':'ephemeral'}," + HI + " | 300",
                "'cache_control':{'type':'ephemeral','ttl':'1h'}," + HI + " | 3600",
                "'system':[{'type':'text','text':'S','cache_control':{'type':'ephemeral'}}],"
                        + HI
                        + " | 300",
                "'tools':[{'name':'f','input_schema':{},'cache_control':{'type':'ephemeral',"
                        + "'ttl':'1h'}}],'system':[{'type':'text','text':'S','cache_control':"
                        + "{'type':'ephemeral','ttl':'5m'}}],"
                        + HI
                        + " | 3600",
                "'messages':[{'role':'user','content':[{'type':'text','text':'a',"
                        + "'cache_control':{'type':'ephemeral','ttl':'10m'}}]}] | 600",
                "'messages':[{'role':'assistant','content':[{'type':'tool_use','id':'i','name':'f',"
                        + "'input':{}}]},{'role':'user','content':[{'type':'tool_result',"
                        + "'tool_use_id':'i','content':[{'type':'text','text':'r','cache_control':"
                        + "{'type':'ephemeral','ttl':'1h'}}]}]}] | 3600",
            })
    void blocks_that_are_to_be_cached_pin_the_prompt_for_the_longest_time(
            String members, int seconds) throws Exception {
        JsonNode nvext = chat(members).get("nvext");
        assertEquals(json("{'cache_control':{'type':'ephemeral','ttl':" + seconds + "}}"), nvext);
    }

    @Test
    void the_clients_own_nvext_wins_over_its_blocks() throws Exception {
        String blocks = "'cache_control':{'type':'ephemeral','ttl':'1h'}," + HI;
        String own = "'nvext':{'x':1,'cache_control':{'type':'ephemeral','ttl':'5m'}}";
        assertEquals(json("{" + own + "}").get("nvext"), chat(blocks + "," + own).get("nvext"));
        assertEquals(
                json("{'x':1,'cache_control':{'type':'ephemeral','ttl':3600}}"),
                chat(blocks + ",'nvext':{'x':1}").get("nvext"));
        assertEquals(json("[7]"), chat(blocks + ",'nvext':[7]").get("nvext"), "refused later");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "'cache_control':'5m' | cache_control",
                "'cache_control':{} | cache_control.type",
                "'cache_control':{'type':'long'} | cache_control.type",
                "'cache_control':{'type':'ephemeral','ttl':1.5} | cache_control.ttl",
                "'system':[{'type':'text','text':'S','cache_control':{'type':1}}]"
                        + " | system[0].cache_control.type",
                "'tools':[{'name':'f','input_schema':{},'cache_control':true}]"
                        + " | tools[0].cache_control"
            })
    void a_wrong_mark_is_refused_with_its_path(String member, String path) {
        assertEquals(path, refused(HEAD + HI + "," + member).param());
    }

    @Test
    void claude_codes_user_names_its_session_and_no_other_user_does() throws Exception {
        String id = "0c3dd3a4-5f59-4a1a-9a5d-3c1f3b1d2e4f";
        for (String user :
                List.of(
                        "user_ab12_account__session_" + id,
                        "{\\'device_id\\':\\'d\\',\\'session_id\\':\\'" + id + "\\'}")) {
            JsonNode chat = chat(HI + ",'metadata':{'user_id':'" + user + "'}");
            assertEquals(json("{'agent_context':{'session_id':'" + id + "'}}"), chat.get("nvext"));
            assertTrue(chat.get("user").asText().contains(id), "engines still get the user");
            assertFalse(
                    chat.has("cache_salt"), "whose caches these are is not the client's to say");
        }
        for (String user : List.of("u1", "{", "{}", "_session_", "x".repeat(500))) {
            assertFalse(chat(HI + ",'metadata':{'user_id':'" + user + "'}").has("nvext"), user);
        }
    }

    @Test
    void to_be_counted_a_request_needs_no_limit_and_does_not_stream() throws Exception {
        MessagesRequest.Translated t = translate("'model':'m','stream':true," + HI, true);
        assertEquals(json("{'model':'m'," + HI + "}"), JSON.readTree(t.chat().getBytes()));
        assertEquals("m", t.model());
        assertEquals(List.of(), t.stops());
    }
}
