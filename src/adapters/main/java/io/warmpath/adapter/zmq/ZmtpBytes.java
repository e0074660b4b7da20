package io.warmpath.adapter.zmq;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What this side says in ZMTP 3.0 with the NULL mechanism, and the commands it understands. */
final class ZmtpBytes {
    static final String NULL_MECHANISM = "NULL";

    private static final int SHORT = 255;
    private static final int PING_TTL = 2;

    private ZmtpBytes() {}

    /**
     * Version 3.0, not 3.1: then subscriptions are messages, which every peer understands, and
     * heartbeats are understood all the same.
     */
    static ByteBuffer greeting() {
        ByteBuffer out = ByteBuffer.allocate(ZmtpReader.GREETING);
        // To a peer of ZMTP 1 these ten bytes are a long empty frame; libzmq writes the same.
        out.put(0, (byte) 0xff).put(8, (byte) 1).put(ZmtpReader.SIGNATURE - 1, (byte) 0x7f);
        out.put(ZmtpReader.SIGNATURE, (byte) 3);
        out.put(ZmtpReader.MECHANISM, NULL_MECHANISM.getBytes(StandardCharsets.US_ASCII));
        return out;
    }

    /**
     * @param named whether an identity, empty here, belongs to such a socket
     */
    static ByteBuffer ready(String socketType, boolean named) {
        ByteBuffer body = ByteBuffer.allocate(64);
        property(body, "Socket-Type", socketType);
        if (named) {
            property(body, "Identity", "");
        }
        return command("READY", body.flip());
    }

    /** Heartbeat that asks for an answer; the peer need not expect another. */
    static ByteBuffer ping() {
        return command("PING", ByteBuffer.allocate(PING_TTL));
    }

    /** The answer to {@code ping}, with its context. */
    static ByteBuffer pong(byte[] ping) {
        int context = Math.min(ping.length, 1 + "PING".length() + PING_TTL);
        return command("PONG", ByteBuffer.wrap(ping, context, ping.length - context));
    }

    static ByteBuffer subscription(byte[] topic) {
        byte[] body = new byte[1 + topic.length];
        body[0] = 1;
        System.arraycopy(topic, 0, body, 1, topic.length);
        return message(List.of(body));
    }

    static ByteBuffer message(List<byte[]> frames) {
        int size = 0;
        for (byte[] f : frames) {
            size += 1 + Long.BYTES + f.length;
        }
        ByteBuffer out = ByteBuffer.allocate(size);
        for (int i = 0; i < frames.size(); i++) {
            frame(out, i < frames.size() - 1 ? ZmtpReader.MORE : 0, ByteBuffer.wrap(frames.get(i)));
        }
        return out.flip();
    }

    private static ByteBuffer command(String name, ByteBuffer data) {
        ByteBuffer body = ByteBuffer.allocate(1 + name.length() + data.remaining());
        body.put((byte) name.length()).put(name.getBytes(StandardCharsets.US_ASCII)).put(data);
        ByteBuffer out = ByteBuffer.allocate(1 + Long.BYTES + body.capacity());
        frame(out, ZmtpReader.COMMAND, body.flip());
        return out.flip();
    }

    private static void frame(ByteBuffer out, int flags, ByteBuffer body) {
        if (body.remaining() <= SHORT) {
            out.put((byte) flags).put((byte) body.remaining());
        } else {
            out.put((byte) (flags | ZmtpReader.LONG)).putLong(body.remaining());
        }
        out.put(body);
    }

    private static void property(ByteBuffer out, String name, String value) {
        out.put((byte) name.length()).put(name.getBytes(StandardCharsets.US_ASCII));
        out.putInt(value.length()).put(value.getBytes(StandardCharsets.US_ASCII));
    }

    /** Name of a command; empty when it has none. */
    static String name(byte[] command) {
        int length = command.length == 0 ? 0 : command[0] & 0xff;
        return length >= command.length ? "" : text(command, 1, length);
    }

    /** Reason of an ERROR command. */
    static String reason(byte[] error) {
        int at = 1 + "ERROR".length();
        return at >= error.length
                ? "no reason"
                : text(error, at + 1, Math.min(error[at] & 0xff, error.length - at - 1));
    }

    /** Value of a property of a READY command, null when it is not there. */
    static @Nullable String property(byte[] ready, String name) {
        ByteBuffer in = ByteBuffer.wrap(ready);
        in.position(1 + "READY".length());
        while (in.hasRemaining()) {
            String key = take(in, in.get() & 0xff);
            String value = in.remaining() < Integer.BYTES ? null : take(in, in.getInt());
            if (key == null || value == null) {
                return null;
            }
            // Names are compared without case.
            if (key.toLowerCase(Locale.ROOT).equals(name.toLowerCase(Locale.ROOT))) {
                return value;
            }
        }
        return null;
    }

    private static @Nullable String take(ByteBuffer in, int length) {
        if (length < 0 || length > in.remaining()) {
            return null;
        }
        byte[] out = new byte[length];
        in.get(out);
        return text(out, 0, length);
    }

    private static String text(byte[] from, int at, int length) {
        return new String(from, at, length, StandardCharsets.ISO_8859_1);
    }
}
