package io.warmpath.replica;

import io.warmpath.load.PromptBlocks;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Writes one message after the other into the same bytes. Not thread-safe. */
final class MessageWriter {
    private final ByteBuffer out;

    /** {@code most}: bytes of the largest message ever. */
    MessageWriter(int most) {
        out = ByteBuffer.allocate(most).order(ByteOrder.LITTLE_ENDIAN);
    }

    byte[] bytes() {
        return out.array();
    }

    int length() {
        return out.position();
    }

    boolean isEmpty() {
        return out.position() <= Wire.HEADER;
    }

    void begin(byte kind) {
        begin(kind, out.capacity());
    }

    /** {@code limit}: bytes of this message, when fewer than of the largest. */
    void begin(byte kind, int limit) {
        out.clear();
        out.limit(Math.min(limit, out.capacity()));
        out.put(Wire.MAGIC_0).put(Wire.MAGIC_1).put(Wire.VERSION).put(kind).putInt(0);
        out.position(Wire.HEADER);
    }

    /** The rest of the header, when the message goes out. */
    void seal(long router, long epoch, long sequence) {
        out.putLong(Wire.AT_ROUTER, router);
        out.putLong(Wire.AT_EPOCH, epoch);
        out.putLong(Wire.AT_SEQUENCE, sequence);
    }

    boolean fits(int bytes) {
        return out.remaining() >= bytes;
    }

    /** As many of these names as one message takes. */
    int names(PromptBlocks prompt) {
        int room = (out.limit() - Wire.HEADER - 1 - Wire.ADD_BYTES) / Long.BYTES;
        return Math.min(Math.min(prompt.chain().length, Wire.MAX_NAMES), room);
    }

    void add(AnnouncedBooking t) {
        PromptBlocks prompt = t.booked.prompt();
        int names = names(prompt);
        out.put(Wire.ADD)
                .put(
                        (byte)
                                ((t.prefilled ? Wire.FLAG_PREFILLED : 0)
                                        | (prompt.shared() ? Wire.FLAG_SHARED : 0)))
                .putShort((short) t.place.rank().dpRank())
                .putInt(t.place.incarnation())
                .putLong(t.number)
                .putLong(t.place.rank().worker())
                .putInt(t.booked.prefillTokens())
                .putInt(prompt.tokens())
                .putInt(prompt.blockSize())
                .putInt(t.booked.expectedOutput())
                .putInt(t.outputTokens)
                .putInt(t.weight)
                .putInt(names);
        out.asLongBuffer().put(prompt.chain(), 0, names);
        out.position(out.position() + names * Long.BYTES);
    }

    void prefilled(long number) {
        out.put(Wire.PREFILLED).putLong(number);
    }

    void free(long number) {
        out.put(Wire.FREE).putLong(number);
    }

    void grown(long number, int outputTokens, int weight) {
        out.put(Wire.GROWN).putLong(number).putInt(outputTokens).putInt(weight);
    }

    void heartbeat(int open, long digest, String name) {
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(text.length, Wire.MAX_NAME_BYTES);
        out.putInt(open).putLong(digest).put((byte) length).put(text, 0, length);
    }

    /** Behind a heartbeat: the last message heard of another gateway. */
    void heard(long router, long epoch, long sequence) {
        out.putLong(router).putLong(epoch).putLong(sequence);
    }

    void stateFlags(int flags) {
        out.put(Wire.HEADER, (byte) flags);
        out.position(Math.max(out.position(), Wire.HEADER + 1));
    }

    void session(SessionViews.News news) {
        out.put(news.what()).putShort((short) news.dpRank());
        out.putLong(news.session().high()).putLong(news.session().low()).putLong(news.worker());
    }

    void ask(long router, long epoch) {
        out.putLong(router).putLong(epoch);
    }
}
