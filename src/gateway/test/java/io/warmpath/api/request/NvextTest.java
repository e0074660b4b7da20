package io.warmpath.api.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.warmpath.api.request.RequestParser.Endpoint;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.request.BodyChanges;
import io.warmpath.gateway.request.BodyEditor;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.NvextField;
import io.warmpath.gateway.request.RequestHints;
import java.util.EnumSet;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The members of {@code nvext} beside hints and sessions. Single quotes stand for double ones. */
class NvextTest {
    private static InferenceRequest parse(String body, String... headers) {
        MultiMap map = MultiMap.caseInsensitiveMultiMap();
        for (int i = 0; i < headers.length; i += 2) {
            map.add(headers[i], headers[i + 1]);
        }
        return RequestParser.parse(
                Endpoint.CHAT,
                "r",
                "/",
                map,
                Buffer.buffer(body.replace('\'', '"')),
                new RequestParser.Terms(false, true, false));
    }

    private static InferenceRequest chat(String nvext, String... headers) {
        return parse(
                "{'model':'m','messages':[{'role':'user','content':'hi'}],'nvext':{" + nvext + "}}",
                headers);
    }

    private static GatewayError.BadRequest refused(String nvext, String... headers) {
        GatewayException e =
                assertThrows(GatewayException.class, () -> chat(nvext, headers), nvext);
        return assertInstanceOf(GatewayError.BadRequest.class, e.error());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "'annotations':'worker_id' | nvext.annotations",
                "'annotations':['worker_id',7] | nvext.annotations[1]",
                "'extra_fields':{} | nvext.extra_fields",
                "'extra_fields':[['timing']] | nvext.extra_fields[0]",
                "'greed_sampling':1 | nvext.greed_sampling",
                "'use_raw_prompt':'yes' | nvext.use_raw_prompt",
                "'max_thinking_tokens':-1 | nvext.max_thinking_tokens",
                "'max_thinking_tokens':1.5 | nvext.max_thinking_tokens",
                "'max_thinking_tokens':4294967296 | nvext.max_thinking_tokens",
                "'request_timestamp_ms':'now' | nvext.request_timestamp_ms",
                "'metadata_upload':'u' | nvext.metadata_upload",
                "'metadata_upload':{'url':1} | nvext.metadata_upload.url",
                "'agent_context':'a' | nvext.agent_context",
                "'agent_context':{'session_id':1} | nvext.agent_context.session_id",
                "'agent_context':{'trajectory_final':1} | nvext.agent_context.trajectory_final",
                "'prefill_worker_id':'a' | nvext.prefill_worker_id",
                "'decode_worker_id':-1 | nvext.decode_worker_id",
                "'prefill_dp_rank':-1 | nvext.prefill_dp_rank",
                "'prefill_dp_rank':4294967296 | nvext.prefill_dp_rank",
                "'token_data':'a' | nvext.token_data",
                "'cache_salt':1 | nvext.cache_salt"
            })
    void a_wrong_type_is_refused_with_its_path(String nvext, String path) {
        assertEquals(path, refused(nvext).param());
    }

    @Test
    void what_has_no_effect_here_passes() {
        InferenceRequest r =
                chat(
                        "'use_raw_prompt':true,'max_thinking_tokens':100,'request_timestamp_ms':1.5e12,"
                                + "'metadata_upload':{'url':'https://example.com','x':[1]},"
                                + "'annotations':['request_id'],'extra_fields':['routed_experts'],"
                                + "'never_heard_of':{'annotations':7}");
        assertSame(RequestHints.NONE, r.hints());
        assertSame(RequestHints.NONE, chat("'annotations':null,'extra_fields':null").hints());
    }

    @Test
    void what_is_to_be_told_beside_the_answer_is_known_by_its_names() {
        assertEquals(
                Set.of(NvextField.WORKER_ID, NvextField.TIMING, NvextField.TOKEN_IDS),
                chat("'extra_fields':['timing','worker_id','token_ids','timing']")
                        .hints()
                        .extras());
        assertEquals(
                EnumSet.range(NvextField.WORKER_ID_EVENT, NvextField.QUERY_ONLY),
                chat("'annotations':['token_ids','worker_id','formatted_prompt',"
                                + "'llm_metrics','query_instance_id:x']")
                        .hints()
                        .extras());
        assertEquals(
                Set.of(), chat("'annotations':['query_instance_id','timing']").hints().extras());
    }

    @Test
    void either_of_two_names_of_one_worker_is_enough() {
        for (String name :
                new String[] {"backend_instance_id", "decode_worker_id", "prefill_worker_id"}) {
            assertEquals(
                    OptionalLong.of(7), chat("'" + name + "':7").routing().pinnedWorker(), name);
        }
        InferenceRequest same =
                chat("'prefill_worker_id':7,'decode_worker_id':7,'prefill_dp_rank':1,'dp_rank':1");
        assertEquals(OptionalLong.of(7), same.routing().pinnedWorker());
        assertEquals(OptionalInt.of(1), same.routing().pinnedRank());
        assertEquals(OptionalInt.of(1), chat("'prefill_dp_rank':1").routing().pinnedRank());
        assertEquals(
                OptionalInt.empty(),
                chat("'prefill_dp_rank':4294967295").routing().pinnedRank(),
                "none");
    }

    @Test
    void two_workers_that_answer_are_refused() {
        assertEquals(
                "nvext.decode_worker_id",
                refused("'backend_instance_id':18446744073709551615,'decode_worker_id':2").param());
        assertEquals("nvext.prefill_dp_rank", refused("'prefill_dp_rank':1,'dp_rank':0").param());
        GatewayError.BadRequest error =
                refused("'backend_instance_id':18446744073709551615,'decode_worker_id':3");
        assertTrue(error.message().contains("18446744073709551615"), error.message());
    }

    @Test
    void two_names_of_two_workers_are_two_halves() {
        InferenceRequest two =
                chat(
                        "'prefill_worker_id':18446744073709551615,'decode_worker_id':2,"
                                + "'prefill_dp_rank':1,'dp_rank':0");
        assertEquals(OptionalLong.of(2), two.routing().pinnedWorker());
        assertEquals(OptionalInt.of(0), two.routing().pinnedRank());
        assertEquals(OptionalLong.of(-1), two.routing().prefiller().worker());
        InferenceRequest byHeader = chat("'backend_instance_id':2", "x-prefill-instance-id", "3");
        assertEquals(OptionalLong.of(2), byHeader.routing().pinnedWorker());
        assertEquals(OptionalLong.of(3), byHeader.routing().prefiller().worker());
        assertTrue(chat("'prefill_worker_id':7").routing().prefiller().isAny());
    }

    @ParameterizedTest
    @ValueSource(strings = {"x-dynamo-", "x-"})
    void headers_win_over_the_body(String prefix) {
        InferenceRequest r =
                chat(
                        "'backend_instance_id':1,'decode_worker_id':1,'prefill_worker_id':1,"
                                + "'dp_rank':1,'prefill_dp_rank':1",
                        prefix + "worker-instance-id",
                        "9",
                        prefix + "prefill-instance-id",
                        " 9 ",
                        prefix + "dp-rank",
                        "3",
                        prefix + "prefill-dp-rank",
                        "3");
        assertEquals(OptionalLong.of(9), r.routing().pinnedWorker());
        assertEquals(OptionalInt.of(3), r.routing().pinnedRank());
        for (String name : new String[] {"prefill-instance-id", "prefill-dp-rank"}) {
            assertEquals(prefix + name, refused("", prefix + name, "seven").param());
        }
        assertEquals(
                OptionalInt.of(1),
                chat("'dp_rank':1,'prefill_dp_rank':2", prefix + "prefill-dp-rank", "4294967295")
                        .routing()
                        .pinnedRank());
    }

    @Test
    void greed_becomes_temperature_zero_wherever_the_body_says_another() {
        String asked = "'messages':[{'role':'user','content':'hi'}]";
        for (String own : new String[] {"", ",'temperature':0.7", ",'temperature' : null"}) {
            InferenceRequest r =
                    parse("{'model':'m'" + own + "," + asked + ",'nvext':{'greed_sampling':true}}");
            assertTrue(r.hints().greedy());
            String sent =
                    BodyEditor.edit(
                                    r.body(),
                                    r.edits(),
                                    BodyChanges.NONE.withGreedy().withoutNvext())
                            .toString();
            assertEquals(
                    new JsonObject(
                            ("{'model':'m','temperature':0," + asked + "}").replace('\'', '"')),
                    new JsonObject(sent),
                    own);
        }
        assertFalse(chat("'greed_sampling':false").hints().greedy());
    }
}
