package io.warmpath.adapter.zmq;

import io.warmpath.events.MalformedBatchException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/**
 * A MessagePack payload read by structure. One thread.
 *
 * <p>Two failures are told apart. {@link MalformedBatchException}: the bytes are not MessagePack,
 * so nothing after them can be trusted. {@link BadValue}: the structure is sound but the value is
 * not what it should be, so the reader can skip it and go on. A declared length never allocates
 * more than the bytes that are really there.
 */
final class Payload {
    /** A sound value of the wrong type or range. No stack trace: not a bug. */
    static final class BadValue extends Exception {
        private static final long serialVersionUID = 1L;

        BadValue(String message) {
            super(message, null, false, false);
        }
    }

    /** Longest string or byte string that is read; none that engines send comes near. */
    private static final int MAX_BYTES = 64 * 1024;

    private static final int WORD_BYTES = 32;

    private final byte[] bytes;

    /** Of one value at a time. */
    private final byte[] word = new byte[WORD_BYTES];

    private MessageUnpacker unpacker;
    private int base;

    Payload(byte[] bytes) {
        this.bytes = bytes;
        this.unpacker = MessagePack.newDefaultUnpacker(bytes);
    }

    int position() {
        return base + (int) unpacker.getTotalReadBytes();
    }

    int left() {
        return bytes.length - position();
    }

    /** Goes back to, or forward to, an earlier {@link #position}. */
    void seek(int position) {
        base = position;
        unpacker = MessagePack.newDefaultUnpacker(bytes, position, bytes.length - position);
    }

    ValueType type() throws MalformedBatchException {
        return format().getValueType();
    }

    /** Consumes a nil if one comes next. */
    boolean nil() throws MalformedBatchException {
        return read(unpacker::tryUnpackNil);
    }

    /** Elements of an array; at least that many bytes follow. */
    int array() throws MalformedBatchException, BadValue {
        expect(ValueType.ARRAY);
        return plausible(read(unpacker::unpackArrayHeader), 1);
    }

    /** Pairs of a map; at least twice as many bytes follow. */
    int map() throws MalformedBatchException, BadValue {
        expect(ValueType.MAP);
        return plausible(read(unpacker::unpackMapHeader), 2);
    }

    /** Any integer of 64 bits; unsigned ones keep their bits. */
    long bits() throws MalformedBatchException, BadValue {
        expect(ValueType.INTEGER);
        return format() == MessageFormat.UINT64 ? unsigned() : read(unpacker::unpackLong);
    }

    /** The library makes an object of each; these are hashes, the most frequent value of all. */
    private long unsigned() throws MalformedBatchException {
        read(
                () -> {
                    unpacker.readPayload(word, 0, 1 + Long.BYTES);
                    return true;
                });
        return ByteBuffer.wrap(word, 1, Long.BYTES).getLong();
    }

    /** An integer from {@code min} to {@code max}, both below 2^63. */
    long integer(long min, long max) throws MalformedBatchException, BadValue {
        boolean unsigned = type() == ValueType.INTEGER && format() == MessageFormat.UINT64;
        long value = bits();
        if ((unsigned && value < 0) || value < min || value > max) {
            throw new BadValue("integer out of range");
        }
        return value;
    }

    double number() throws MalformedBatchException, BadValue {
        if (type() == ValueType.FLOAT) {
            return read(unpacker::unpackDouble);
        }
        return bits();
    }

    String string() throws MalformedBatchException, BadValue {
        expect(ValueType.STRING);
        int length = length(read(unpacker::unpackRawStringHeader));
        byte[] raw = length <= word.length ? word : new byte[length];
        read(
                () -> {
                    unpacker.readPayload(raw, 0, length);
                    return true;
                });
        String known = KnownWords.OF_EVENTS.find(raw, length);
        return known != null ? known : decoded(raw, length);
    }

    private static String decoded(byte[] raw, int length) throws BadValue {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .onUnmappableCharacter(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(raw, 0, length))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new BadValue("string is not UTF-8");
        }
    }

    @Nullable String stringOrNil() throws MalformedBatchException, BadValue {
        return nil() ? null : string();
    }

    byte[] binary() throws MalformedBatchException, BadValue {
        expect(ValueType.BINARY);
        return bytes(read(unpacker::unpackBinaryHeader));
    }

    /** Passes over one value of any kind, however deep, without recursion. */
    void skip() throws MalformedBatchException {
        long values = 1;
        while (values > 0) {
            values--;
            switch (type()) {
                case ARRAY -> values += plausible(read(unpacker::unpackArrayHeader), 1);
                case MAP -> values += 2L * plausible(read(unpacker::unpackMapHeader), 2);
                case STRING -> pass(read(unpacker::unpackRawStringHeader));
                case BINARY -> pass(read(unpacker::unpackBinaryHeader));
                case EXTENSION ->
                        pass(read(() -> unpacker.unpackExtensionTypeHeader().getLength()));
                default ->
                        read(
                                () -> {
                                    unpacker.skipValue();
                                    return true;
                                });
            }
            if (values > left()) {
                throw new MalformedBatchException("the payload ends too early");
            }
        }
    }

    private void pass(int length) throws MalformedBatchException {
        plausible(length, 1);
        seek(position() + length);
    }

    private byte[] bytes(int declared) throws MalformedBatchException, BadValue {
        int length = length(declared);
        return read(() -> unpacker.readPayload(length));
    }

    private int length(int declared) throws MalformedBatchException, BadValue {
        plausible(declared, 1);
        if (declared > MAX_BYTES) {
            throw new BadValue("string of " + declared + " bytes");
        }
        return declared;
    }

    private int plausible(int count, int bytesEach) throws MalformedBatchException {
        if ((long) count * bytesEach > left()) {
            throw new MalformedBatchException("the payload ends too early");
        }
        return count;
    }

    private void expect(ValueType type) throws MalformedBatchException, BadValue {
        ValueType found = type();
        if (found != type) {
            throw new BadValue("found " + found + " instead of " + type);
        }
    }

    private MessageFormat format() throws MalformedBatchException {
        MessageFormat format = read(unpacker::getNextFormat);
        if (format == MessageFormat.NEVER_USED) {
            throw new MalformedBatchException("reserved byte 0xc1");
        }
        return format;
    }

    private interface Read<T> {
        T get() throws IOException;
    }

    /** Types are checked before each read, so what the library refuses here is broken bytes. */
    private static <T> T read(Read<T> read) throws MalformedBatchException {
        try {
            return read.get();
        } catch (MessagePackException | IOException e) {
            throw new MalformedBatchException("not MessagePack: " + e.getMessage());
        }
    }
}
