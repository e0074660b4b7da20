package io.warmpath.net.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames by their bytes, before a guard on its own. */
class FrameGuardTest {
    private static final byte[] PREFACE =
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int PING = 6;
    private static final int REFUSED = 7;
    private static final Duration LONG = Duration.ofMinutes(5);

    private long now;
    private final ClientLimits limits = ClientLimits.of(LONG, LONG, LONG, 10, "", () -> now);
    private final EmbeddedChannel channel = new EmbeddedChannel(new FrameGuard(limits, true));

    @AfterEach
    void release() {
        channel.finishAndReleaseAll();
    }

    private static byte[] frame(int type, byte... payload) {
        byte[] all = new byte[9 + payload.length];
        all[2] = (byte) payload.length;
        all[1] = (byte) (payload.length >> 8);
        all[3] = (byte) type;
        System.arraycopy(payload, 0, all, 9, payload.length);
        return all;
    }

    private void receive(byte[] bytes) {
        channel.pipeline().fireChannelRead(Unpooled.wrappedBuffer(bytes));
        ByteBuf passed = channel.readInbound();
        if (passed != null) {
            passed.release();
        }
    }

    private void send(byte[] bytes) {
        channel.writeOutbound(Unpooled.wrappedBuffer(bytes));
        ByteBuf passed = channel.readOutbound();
        assertNotNull(passed);
        passed.release();
    }

    private int untilCut(byte[] frame, int most) {
        for (int i = 0; i < most; i++) {
            receive(frame);
            if (!channel.isOpen()) {
                return i + 1;
            }
        }
        return most;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 3, 4, 6, 8, 9, 99}) // with nothing in it
    void frames_that_ask_for_nothing_end_the_connection(int type) {
        receive(PREFACE);
        assertEquals(FrameGuard.MOST + 1, untilCut(frame(type), 2 * FrameGuard.MOST));
        assertEquals(1, limits.connections().flooding().sum());
        ByteBuf told = channel.readOutbound();
        assertEquals(7, told.getByte(3), "GOAWAY");
        assertEquals(11, told.getInt(13), "ENHANCE_YOUR_CALM");
        told.release();
        receive(frame(PING));
        assertNull(channel.readInbound(), "nothing is read any more");
    }

    @Test
    void work_costs_nothing_and_answers_pay() {
        receive(PREFACE);
        for (int i = 0; i < 3 * FrameGuard.MOST; i++) {
            receive(frame(FrameHeads.HEADERS, (byte) 1));
            receive(frame(FrameHeads.DATA, (byte) 1));
            receive(frame(FrameHeads.RST_STREAM, new byte[4]));
            receive(frame(PING, new byte[8]));
            receive(frame(8, new byte[4]));
            send(frame(FrameHeads.DATA, (byte) 1));
        }
        assertTrue(channel.isOpen());
        assertEquals(FrameGuard.MOST + 1, untilCut(frame(PING), 3 * FrameGuard.MOST));
    }

    @Test
    @SuppressWarnings("FutureReturnValueIgnored") // it fails: the connection is closed by it
    void resets_that_it_is_made_to_send_count() {
        receive(PREFACE);
        byte[] refused = frame(FrameHeads.RST_STREAM, (byte) 0, (byte) 0, (byte) 0, (byte) REFUSED);
        byte[] ended = frame(FrameHeads.RST_STREAM, new byte[4]);
        for (int i = 0; i < FrameGuard.MOST; i++) {
            send(refused);
            send(ended);
        }
        assertTrue(channel.isOpen());
        assertEquals(FrameGuard.MOST, limits.connections().refusedStreams().sum());
        channel.pipeline().write(Unpooled.wrappedBuffer(refused));
        assertFalse(channel.isOpen());
    }

    @Test
    void nothing_but_http2_is_spoken() {
        receive("PRI * HTTP/1".getBytes(StandardCharsets.US_ASCII));
        assertFalse(channel.isOpen());
    }

    @Test
    void a_preface_has_to_come_in_time() {
        EmbeddedChannel slow =
                new EmbeddedChannel(
                        new FrameGuard(
                                ClientLimits.of(
                                        Duration.ofMillis(1), LONG, LONG, 10, "", () -> now),
                                true));
        slow.advanceTimeBy(2, TimeUnit.MILLISECONDS);
        slow.runScheduledPendingTasks();
        assertFalse(slow.isOpen());
        slow.finishAndReleaseAll();
        receive(PREFACE);
        channel.advanceTimeBy(LONG.toMillis() + 1, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        assertTrue(channel.isOpen());
    }

    /** The frames of a stream of bytes, however it is cut. */
    @Test
    void frames_are_the_same_however_they_are_cut() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            List<String> made = new ArrayList<>();
            ByteBuf all = Unpooled.buffer();
            all.writeBytes(PREFACE);
            for (int i = random.nextInt(8); i >= 0; i--) {
                int type = random.nextInt(11);
                byte[] payload = new byte[random.nextInt(3) == 0 ? 300 : random.nextInt(7)];
                random.nextBytes(payload);
                boolean coded = type == FrameHeads.RST_STREAM && payload.length >= 4;
                int code = coded ? Unpooled.wrappedBuffer(payload).getInt(0) : 0;
                made.add(type + " " + payload.length + " " + code);
                all.writeBytes(frame(type, payload));
            }
            List<String> read = new ArrayList<>();
            FrameHeads heads =
                    new FrameHeads(
                            PREFACE.length,
                            (type, length, code) -> read.add(type + " " + length + " " + code));
            while (all.isReadable()) {
                heads.add(all.readSlice(1 + random.nextInt(Math.min(40, all.readableBytes()))));
            }
            assertEquals(made, read, "seed " + seed + ", round " + round);
            all.release();
        }
    }
}
