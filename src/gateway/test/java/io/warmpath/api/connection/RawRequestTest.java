package io.warmpath.api.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.vertx.core.Vertx;
import io.warmpath.api.Leaks;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.request.BodyMemory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a request past the server's codec does when its client leaves. */
@ExtendWith(Leaks.class)
class RawRequestTest {
    private static final String POST =
            "POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nContent-Length: 2\r\n\r\n{}";

    @Test
    void an_answer_that_begins_after_its_client_has_gone_goes_nowhere() throws Exception {
        Vertx vertx = Vertx.vertx();
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.pipeline().addLast("encoder", new ChannelOutboundHandlerAdapter());
        byte[] head = POST.getBytes(StandardCharsets.US_ASCII);
        List<RawRequest> answered = new ArrayList<>();
        RawRequest request =
                new RawRequest(
                        new RawReply.ClientChannel(channel.pipeline().context("encoder")),
                        RawHead.read(head, head.length),
                        vertx.getOrCreateContext(),
                        new BodyMemory(100).reserve(),
                        answered::add);
        AtomicInteger left = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        request.onGone(left::incrementAndGet);
        request.onEnd(status -> ended.incrementAndGet());
        request.disconnected();
        request.disconnected();
        request.answer("r", true, () -> {}).fail(new GatewayError.Internal("r"));
        request.refuse(new GatewayError.Internal("r"), "r");
        assertNull(channel.readOutbound());
        assertEquals(1, left.get());
        assertEquals(1, ended.get());
        assertEquals(List.of(), answered);
        channel.finishAndReleaseAll();
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }
}
