package io.warmpath.session.pin;

import io.warmpath.fleet.PinSupport;
import io.warmpath.session.SessionKey;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The ledger of pins as bytes: magic, version, the oldest version that can read it, the secret of
 * the names, pins, CRC-32C over all before it; big-endian. A pin is a length and its fields: what a
 * later version adds behind them is passed over, so a version that only adds is read by the one
 * before it. Prompts are not in it. Stateless.
 */
public final class PinFile {
    static final int VERSION = 1;

    private static final long MAGIC = 0x5741524d50494e53L; // WARMPINS
    private static final int HEAD = 2 * Long.BYTES + 3 * Integer.BYTES;

    /**
     * @param secret that names are keyed with
     * @param pins those that are not held yet are not written
     */
    public record Content(long secret, List<Pin> pins) {
        public Content {
            pins = List.copyOf(pins);
        }
    }

    private PinFile() {}

    public static byte[] write(Content content) {
        List<Pin> held = content.pins().stream().filter(Pin::held).toList();
        ByteArrayOutputStream to = new ByteArrayOutputStream(1024);
        try (DataOutputStream out = new DataOutputStream(to)) {
            out.writeLong(MAGIC);
            out.writeInt(VERSION);
            out.writeInt(VERSION);
            out.writeLong(content.secret());
            out.writeInt(held.size());
            for (Pin p : held) {
                byte[] pin = pin(p);
                out.writeInt(pin.length);
                out.write(pin);
            }
            out.writeInt(sum(to.toByteArray(), to.size()));
        } catch (IOException e) {
            throw new UncheckedIOException(e); // writing to memory does not fail
        }
        return to.toByteArray();
    }

    /** Throws {@link IOException} with why it cannot be used. */
    public static Content read(byte[] file) throws IOException {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(file))) {
            if (in.readLong() != MAGIC) {
                throw new IOException("it is not a ledger of pins");
            }
            int version = in.readInt();
            int oldestReader = in.readInt();
            if (oldestReader > VERSION) {
                throw new IOException(
                        ("its version is %s, which needs a gateway that reads version %s;"
                                        + " this one reads %s")
                                .formatted(version, oldestReader, VERSION));
            }
            int end = file.length - Integer.BYTES;
            if (end < HEAD
                    || new DataInputStream(new ByteArrayInputStream(file, end, Integer.BYTES))
                                    .readInt()
                            != sum(file, end)) {
                throw new IOException("its checksum is wrong: cut short or changed");
            }
            long secret = in.readLong();
            List<Pin> pins = new ArrayList<>();
            for (int n = in.readInt(); n > 0; n--) {
                byte[] pin = bytes(in);
                pins.add(pin(new DataInputStream(new ByteArrayInputStream(pin))));
            }
            return new Content(secret, pins);
        } catch (EOFException | IllegalArgumentException e) {
            throw new IOException("it ends too early, or is damaged: " + e.getMessage(), e);
        }
    }

    private static byte[] pin(Pin p) throws IOException {
        ByteArrayOutputStream to = new ByteArrayOutputStream(192);
        DataOutputStream out = new DataOutputStream(to);
        out.writeLong(p.number());
        out.writeLong(p.worker());
        out.writeInt(p.dpRank());
        text(p.scope().model(), out);
        text(p.scope().tenant(), out);
        text(p.model(), out);
        out.writeLong(p.name());
        out.writeInt(p.blockSize());
        out.writeInt(p.blocks());
        out.writeInt(p.tokens());
        text(p.how().word(), out);
        out.writeInt(p.ttlSeconds());
        out.writeLong(p.madeMillis());
        out.writeLong(p.expiresMillis());
        out.writeLong(p.hits());
        out.writeInt(p.nodes());
        text(p.said(), out);
        return to.toByteArray();
    }

    private static Pin pin(DataInputStream in) throws IOException {
        return new Pin(
                in.readLong(),
                in.readLong(),
                in.readInt(),
                new SessionKey.Scope(text(in), text(in)),
                text(in),
                in.readLong(),
                in.readInt(),
                in.readInt(),
                in.readInt(),
                PinSupport.parse(text(in)),
                in.readInt(),
                in.readLong(),
                in.readLong(),
                in.readLong(),
                in.readInt(),
                text(in),
                true);
    }

    /** Longer than the form of {@code writeUTF} allows: a tenant's name is the client's. */
    private static void text(String text, DataOutputStream out) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static String text(DataInputStream in) throws IOException {
        return new String(bytes(in), StandardCharsets.UTF_8);
    }

    /** A length that is damaged must not become memory. */
    private static byte[] bytes(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > in.available()) {
            throw new EOFException(length + " bytes where there are " + in.available());
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    private static int sum(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }
}
