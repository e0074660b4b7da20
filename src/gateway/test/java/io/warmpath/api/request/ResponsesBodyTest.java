package io.warmpath.api.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.buffer.Buffer;
import io.warmpath.net.HeapBytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies in single quotes. */
class ResponsesBodyTest {
    private static final String ITEMS =
            "{'model':'m','input':[{'role':'system','content':'s'},{'role':'user','content':'a'},"
                    + "{'type':'message','id':'msg_1','status':'completed','role':'assistant',"
                    + "'content':[{'type':'output_text','text':'b','annotations':[]}]},"
                    + "{'role':'user','content':[{'type':'input_text','text':'c'}]}]}";

    private static String messages(String body) {
        return ResponsesBody.read(HeapBytes.of(Buffer.buffer(body.replace('\'', '"'))))
                .messages()
                .toString();
    }

    @Test
    void a_text_is_the_users_and_instructions_are_the_systems() {
        assertEquals(
                "[{role=system, content=be brief}, {role=user, content=hi}]",
                messages("{'model':'m','input':'hi','instructions':'be brief'}"));
        assertEquals(
                "[{role=user, content=hi}]",
                messages("{'model':'m','input':'hi','instructions':'','tools':[],'store':false}"));
    }

    @Test
    void messages_keep_role_and_text_alone() {
        assertEquals(
                "[{role=system, content=s}, {role=user, content=a}, {role=assistant,"
                        + " content=[{type=text, text=b}]}, {role=user, content=[{type=text,"
                        + " text=c}]}]",
                messages(ITEMS));
    }

    @Test
    void what_does_not_reach_the_prompt_does_not_matter() {
        assertEquals(
                "[{role=user, content=hi}]",
                messages(
                        "{'model':'m','input':'hi','temperature':0.5,'stream':true,'metadata':{'a':"
                                + " 'b'},'text':{'format':{'type':'text'}},'truncation':'disabled',"
                                + "'previous_response_id':null,'background':false,'max_output_tokens':5}"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'input':[]}",
                "{'input':7}",
                "{}",
                "{'input':['a']}",
                "{'input':'a','previous_response_id':'resp_1'}",
                "{'input':'a','conversation':'c'}",
                "{'input':'a','tools':[{'type':'function','name':'f'}]}",
                "{'input':'a','reasoning':{'effort':'low'}}",
                "{'input':'a','prompt':{'id':'p'}}",
                "{'input':'a','truncation':'auto'}",
                "{'input':'a','something_new':1}",
                "{'input':'a','instructions':['x']}",
                "{'input':[{'type':'function_call_output','call_id':'c','output':'x'}]}",
                "{'input':[{'type':'reasoning','summary':[]}]}",
                "{'input':[{'role':'developer','content':'x'}]}",
                "{'input':[{'role':'user','content':'x'},{'role':'system','content':'y'}]}",
                "{'input':[{'role':'user','content':'x'},{'role':'assistant','content':'y'}]}",
                "{'input':[{'role':'user','content':[{'type':'input_image','image_url':'u'}]}]}",
                "{'input':[{'role':'user','content':[{'type':'input_text','text':'a'},"
                        + "{'type':'input_text','text':'b'}]}]}",
                "{'input':[{'role':'user','content':'x','status':'incomplete'}]}",
                "{'input':[{'role':'user','content':'x','name':'bob'}]}",
                "{'instructions':'s','input':[{'role':'system','content':'x'}]}"
            })
    void what_engines_do_not_agree_on_is_not_predicted(String body) {
        String told =
                assertThrows(IllegalArgumentException.class, () -> messages(body)).getMessage();
        assertTrue(told.startsWith("not predicted of /v1/responses: "), told);
    }
}
