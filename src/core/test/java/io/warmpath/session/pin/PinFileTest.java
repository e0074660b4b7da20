package io.warmpath.session.pin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.PinSupport;
import io.warmpath.session.SessionKey;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class PinFileTest {
    private static Pin pin(long number, boolean held) {
        return new Pin(
                number,
                -1,
                2,
                new SessionKey.Scope("m", "tenant é"),
                "served",
                0x8000_0000_0000_0001L,
                16,
                10,
                171,
                PinSupport.KEEP_ALIVE,
                600,
                1_000,
                601_000,
                4,
                9,
                "Pinned 9 nodes",
                held);
    }

    private static byte[] signed(byte[] body) {
        CRC32C crc = new CRC32C();
        crc.update(body);
        byte[] file = Arrays.copyOf(body, body.length + 4);
        ByteBuffer.wrap(file, body.length, 4).putInt((int) crc.getValue());
        return file;
    }

    @Test
    void what_was_written_is_read() throws IOException {
        PinFile.Content content =
                new PinFile.Content(42, List.of(pin(1, true), pin(2, false), pin(3, true)));
        assertEquals(
                new PinFile.Content(42, List.of(pin(1, true), pin(3, true))),
                PinFile.read(PinFile.write(content)),
                "but for what is only asked for");
    }

    @Test
    void what_a_later_version_adds_is_passed_over() throws IOException {
        byte[] now = PinFile.write(new PinFile.Content(42, List.of(pin(1, true))));
        ByteBuffer old = ByteBuffer.wrap(now);
        ByteArrayOutputStream to = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(to);
        out.writeLong(old.getLong());
        out.writeInt(old.getInt() + 1); // version
        out.writeInt(old.getInt()); // the oldest that can read it
        out.writeLong(old.getLong());
        out.writeInt(old.getInt());
        int length = old.getInt();
        out.writeInt(length + 5);
        byte[] pin = new byte[length];
        old.get(pin);
        out.write(pin);
        out.write(new byte[5]);
        out.writeUTF("and something behind the pins");
        assertEquals(
                new PinFile.Content(42, List.of(pin(1, true))),
                PinFile.read(signed(to.toByteArray())));
    }

    @Test
    void what_needs_a_later_version_is_refused_by_name() {
        byte[] file = PinFile.write(new PinFile.Content(42, List.of()));
        ByteBuffer.wrap(file).putInt(8, 3).putInt(12, 2);
        IOException e =
                assertThrows(
                        IOException.class,
                        () -> PinFile.read(signed(Arrays.copyOf(file, file.length - 4))));
        assertTrue(e.getMessage().contains("reads version 2; this one reads 1"), e::getMessage);
    }

    @Test
    void damage_is_refused_wherever_it_is() throws IOException {
        byte[] file = PinFile.write(new PinFile.Content(42, List.of(pin(1, true))));
        for (int i = 0; i < file.length; i++) {
            byte[] cut = Arrays.copyOf(file, i);
            assertThrows(IOException.class, () -> PinFile.read(cut), "cut");
            byte[] changed = file.clone();
            changed[i] ^= 4;
            assertThrows(IOException.class, () -> PinFile.read(changed), "at " + i);
            if (i < file.length - 4) {
                // Even a checksum that fits must not make it more than an exception.
                byte[] meant = signed(Arrays.copyOf(changed, file.length - 4));
                try {
                    PinFile.read(meant);
                } catch (IOException refused) {
                    assertTrue(refused.getMessage() != null);
                }
            }
        }
    }
}
