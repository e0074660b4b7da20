package io.warmpath.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * The engines of {@link SourceLatency}, in a process of their own as engines are: their garbage,
 * their compiling and their pauses are not the gateway's. Each says one block in a batch, stores it
 * in an even one and removes it in the next. Sends without allocating; when each event was sent
 * stands in a file that both processes map, by {@link System#nanoTime}, which is one clock for all
 * processes of a machine.
 *
 * <p>Says {@code ports ...}, waits for a subscriber at each and for a line of input, sends evenly,
 * by turns, and says {@code late P99 MOST}: microseconds by which its own sending missed its plan.
 */
final class EventPublishers {
    private static final int BLOCK = 16;
    private static final int MESSAGE_BYTES = 4096;
    private static final byte INT_32 = (byte) 0xce;
    private static final byte INT_64 = (byte) 0xcf;
    private static final byte NIL = (byte) 0xc0;

    private final byte[] stored = stored();
    private final byte[] removed = removed();

    // Of the hash in each.
    private final int storedAt = stored.length - rest().length - Long.BYTES;
    private final int removedAt = removed.length - 1 - Long.BYTES;

    private EventPublishers() {}

    /** COUNT EVENTS_PER_SECOND SECONDS_THAT_DO_NOT_COUNT SECONDS FILE */
    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        int perSecond = Integer.parseInt(args[1]);
        int first = count * perSecond * Integer.parseInt(args[2]);
        int total = first + count * perSecond * Integer.parseInt(args[3]);
        LongBuffer sentAt = stamps(Path.of(args[4]), total);
        ByteBuffer out = ByteBuffer.allocateDirect(MESSAGE_BYTES);
        WirePublisher[] publishers = new WirePublisher[count];
        StringBuilder ports = new StringBuilder("ports");
        for (int i = 0; i < count; i++) {
            publishers[i] = new WirePublisher(out);
            ports.append(' ').append(publishers[i].port());
        }
        System.out.println(ports);
        for (WirePublisher p : publishers) {
            p.join();
        }
        if (System.in.read() < 0) {
            return;
        }
        long[] late = new EventPublishers().send(publishers, perSecond, first, total, sentAt);
        System.out.println("late " + late[0] / 1000 + " " + late[1] / 1000);
        while (System.in.read() >= 0) {
            // Until the other one has read all.
        }
    }

    /** A word for each event. */
    static LongBuffer stamps(Path file, long events) throws IOException {
        try (FileChannel channel =
                FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, events * Long.BYTES)
                    .order(ByteOrder.nativeOrder())
                    .asLongBuffer();
        }
    }

    /** What both processes know an event by: engines take turns. */
    static int event(long hash, boolean stores, int count) {
        long n = (hash & 0xff_ffff_ffffL) + (stores ? 0 : 1);
        return (int) (n * count + (hash >>> 40) - 1);
    }

    private long[] send(WirePublisher[] to, int perSecond, int first, int total, LongBuffer sentAt)
            throws IOException {
        long step = 1_000_000_000L / ((long) to.length * perSecond);
        long[] late = new long[total];
        long begin = System.nanoTime();
        for (int sent = 0; sent < total; sent++) {
            long due = begin + sent * step;
            long now = System.nanoTime();
            while (now - due < 0) {
                LockSupport.parkNanos(due - now);
                now = System.nanoTime();
            }
            int i = sent % to.length;
            long n = sent / to.length;
            late[sent] = now - due;
            sentAt.put(sent, now);
            byte[] payload = n % 2 == 0 ? stored : removed;
            ByteBuffer.wrap(payload)
                    .putLong(n % 2 == 0 ? storedAt : removedAt, (i + 1L) << 40 | (n & ~1L));
            to[i].send(n, payload);
        }
        Arrays.sort(late, first, total);
        return new long[] {late[first + (int) ((total - first) * 99L / 100)], late[total - 1]};
    }

    private static ByteBuffer start() {
        ByteBuffer b = ByteBuffer.allocate(512);
        // A batch: time, one event, rank.
        b.put((byte) 0x93).put((byte) 0xcb).putDouble(1);
        b.put((byte) 0x91);
        return b;
    }

    private static byte[] stored() {
        ByteBuffer b = start().put((byte) 0x85);
        text(text(text(b, "type"), "BlockStored"), "block_hashes");
        b.put((byte) 0x91).put(INT_64).putLong(0);
        return whole(b.put(rest()));
    }

    /** What stands behind the hash of a stored block. */
    private static byte[] rest() {
        ByteBuffer b = ByteBuffer.allocate(512);
        text(b, "parent_block_hash").put(NIL);
        text(b, "token_ids").put((byte) 0xdc).putShort((short) BLOCK);
        for (int i = 0; i < BLOCK; i++) {
            b.put(INT_32).putInt(100_000 + i);
        }
        text(b, "block_size").put((byte) BLOCK).put((byte) 0);
        return whole(b);
    }

    private static byte[] removed() {
        ByteBuffer b = start().put((byte) 0x82);
        text(text(text(b, "type"), "BlockRemoved"), "block_hashes");
        return whole(b.put((byte) 0x91).put(INT_64).putLong(0).put((byte) 0));
    }

    private static ByteBuffer text(ByteBuffer to, String text) {
        return to.put((byte) (0xa0 | text.length())).put(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] whole(ByteBuffer b) {
        byte[] out = new byte[b.flip().remaining()];
        b.get(out);
        return out;
    }
}
