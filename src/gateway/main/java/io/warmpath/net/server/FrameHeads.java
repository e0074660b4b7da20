package io.warmpath.net.server;

import io.netty.buffer.ByteBuf;

/**
 * Finds the heads of HTTP/2 frames in the bytes of one direction, however they are cut, and leaves
 * the bytes as they are. Source: RFC 9113, section 4.1. One thread.
 */
final class FrameHeads {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RST_STREAM = 3;

    private static final int BYTES = 9;
    private static final int CODE_BYTES = 4;

    /** Sees each frame. */
    @FunctionalInterface
    interface Frames {
        /**
         * @param length of the payload, in bytes
         * @param code of a RST_STREAM; 0 for others
         */
        void frame(int type, int length, int code);
    }

    private final Frames frames;
    private int seen; // bytes of a head, and of a reset's code
    private int length;
    private int type;
    private int code;
    private int left; // of what is stepped over: a preface, payloads

    /** {@code preface}: bytes before the first frame. */
    FrameHeads(int preface, Frames frames) {
        this.left = preface;
        this.frames = frames;
    }

    /** {@code b}: its readable bytes are the next ones; they are not taken from it. */
    void add(ByteBuf b) {
        int at = b.readerIndex();
        int end = b.writerIndex();
        while (at < end) {
            if (left > 0) {
                int step = Math.min(end - at, left);
                left -= step;
                at += step;
                continue;
            }
            head(b.getByte(at++) & 0xff);
        }
    }

    private void head(int next) {
        if (seen == 0) {
            length = 0;
            code = 0;
        }
        if (seen < 3) {
            length = (length << 8) | next;
        } else if (seen == 3) {
            type = next;
        } else if (seen >= BYTES) {
            code = (code << 8) | next;
        }
        seen++;
        int extra = type == RST_STREAM && length >= CODE_BYTES ? CODE_BYTES : 0;
        if (seen >= BYTES && seen == BYTES + extra) {
            seen = 0;
            left = length - extra;
            frames.frame(type, length, code);
        }
    }
}
