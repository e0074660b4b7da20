package io.warmpath.api.hints;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.request.RequestParser;
import io.warmpath.api.request.RequestParser.Endpoint;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.request.RequestHints;
import io.warmpath.session.AgentContext;
import io.warmpath.session.PinRequest;
import io.warmpath.session.SessionControl;
import io.warmpath.session.SessionControl.Action;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sessions and pins in {@code nvext}. Single quotes stand for double ones. */
class SessionHintsTest {
    private static RequestHints parse(Endpoint endpoint, String body) {
        return RequestParser.parse(
                        endpoint,
                        "r",
                        "/",
                        MultiMap.caseInsensitiveMultiMap(),
                        Buffer.buffer(body.replace('\'', '"')),
                        new RequestParser.Terms(false, true, false))
                .hints();
    }

    private static RequestHints chat(String nvext) {
        return parse(
                Endpoint.CHAT,
                "{'model':'m','messages':[{'role':'user','content':'hi'}],'nvext':{"
                        + nvext
                        + "}}");
    }

    private static GatewayError.BadRequest refused(String nvext) {
        GatewayException e = assertThrows(GatewayException.class, () -> chat(nvext), nvext);
        return assertInstanceOf(GatewayError.BadRequest.class, e.error());
    }

    @Test
    void a_session_is_opened_continued_and_closed() {
        assertEquals(
                new SessionControl("sub-1", Action.OPEN, 60),
                chat("'session_control':{'session_id':'sub-1','action':'open','timeout':60}")
                        .session());
        assertEquals(
                new SessionControl("sub-1", Action.CONTINUE, 300),
                chat("'session_control':{'x':[1],'session_id':'sub-1','action':null}").session());
        assertEquals(
                new SessionControl("sub-1", Action.CLOSE, 300),
                chat("'session_control':{'action':'close','session_id':'sub-1'}").session());
        assertEquals(
                new SessionControl("sub-1", Action.BIND, 300),
                chat("'session_control':{'action':'bind','session_id':'sub-1'}").session());
        assertNull(chat("'session_control':null").session());
    }

    @Test
    void a_pin_lasts_as_long_as_asked_within_its_limits() {
        assertEquals(new PinRequest(300), chat("'cache_control':{'type':'ephemeral'}").pin());
        for (String tenMinutes : List.of("'600'", "600", "'600s'", "'10m'")) {
            RequestHints hints =
                    chat("'cache_control':{'ttl':" + tenMinutes + ",'type':'ephemeral'}");
            assertEquals(new PinRequest(600), hints.pin(), tenMinutes);
        }
        for (String long_ : List.of("'1h'", "86400", "99999999999999999999")) {
            assertEquals(
                    new PinRequest(3600),
                    chat("'cache_control':{'type':'ephemeral','ttl':" + long_ + "}").pin(),
                    long_);
        }
        for (String shortest : List.of("'soon'", "1", "-5", "null", "'5m'")) {
            assertEquals(
                    new PinRequest(300),
                    chat("'cache_control':{'type':'ephemeral','ttl':" + shortest + "}").pin(),
                    shortest);
        }
    }

    @Test
    void completions_have_them_too() {
        RequestHints hints =
                parse(
                        Endpoint.COMPLETIONS,
                        "{'model':'m','prompt':'hi','nvext':{'cache_control':{'type':'ephemeral',"
                                + "'ttl':'1h'},'session_control':{'session_id':'s'}}}");
        assertEquals(new PinRequest(3600), hints.pin());
        assertEquals(new SessionControl("s", Action.CONTINUE, 300), hints.session());
        assertSame(RequestHints.NONE, chat("'session_control':null,'cache_control':null"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "'session_control':'sub-1' | nvext.session_control",
                "'session_control':{} | nvext.session_control.session_id",
                "'session_control':{'session_id':''} | nvext.session_control.session_id",
                "'session_control':{'session_id':'  '} | nvext.session_control.session_id",
                "'session_control':{'session_id':7} | nvext.session_control.session_id",
                "'session_control':{'session_id':'s','action':'stop'}"
                        + " | nvext.session_control.action",
                "'session_control':{'session_id':'s','action':1} | nvext.session_control.action",
                "'session_control':{'session_id':'s','timeout':'300'}"
                        + " | nvext.session_control.timeout",
                "'session_control':{'session_id':'s','timeout':1.5}"
                        + " | nvext.session_control.timeout",
                "'session_control':{'session_id':'s','timeout':0}"
                        + " | nvext.session_control.timeout",
                "'session_control':{'session_id':'s','timeout':86401}"
                        + " | nvext.session_control.timeout",
                "'session_control':{'session_id':'s','timeout':4294967596}"
                        + " | nvext.session_control.timeout",
                "'cache_control':true | nvext.cache_control",
                "'cache_control':{} | nvext.cache_control.type",
                "'cache_control':{'type':'persistent'} | nvext.cache_control.type",
                "'cache_control':{'type':1} | nvext.cache_control.type",
                "'cache_control':{'type':'ephemeral','ttl':1.5} | nvext.cache_control.ttl",
                "'cache_control':{'type':'ephemeral','ttl':['5m']} | nvext.cache_control.ttl"
            })
    void a_wrong_member_is_refused_with_its_path(String nvext, String path) {
        GatewayError.BadRequest error = refused(nvext);
        assertEquals(path, error.param());
    }

    @Test
    void a_session_id_has_a_longest_length() {
        String longest = "x".repeat(256);
        assertEquals(
                new SessionControl(longest, Action.CONTINUE, 300),
                chat("'session_control':{'session_id':'" + longest + "'}").session());
        assertEquals(
                "nvext.session_control.session_id",
                refused("'session_control':{'session_id':'" + longest + "x'}").param());
    }

    @Test
    void an_agents_context_names_its_session() {
        assertEquals(
                new AgentContext("run", "", false),
                chat("'agent_context':{'session_id':' run ','session_type_id':'coding','x':{}}")
                        .agent());
        assertEquals(
                new AgentContext("run/a2", "run/a1", true),
                chat("'agent_context':{'session_id':'run','trajectory_id':'a2',"
                                + "'parent_trajectory_id':'a1','trajectory_final':true}")
                        .agent());
        assertEquals(
                new AgentContext("a2", "", false),
                chat("'agent_context':{'trajectory_id':'a2','trajectory_final':null}").agent());
        assertEquals(AgentContext.NONE, chat("'agent_context':{}").agent());
    }
}
