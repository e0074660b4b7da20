package io.warmpath.tokens.profile;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** Width and height of an image by the first bytes of its file: PNG, JPEG, GIF, WebP. Pure. */
final class ImageSize {
    /** Of base64, a multiple of 4: before a JPEG says its size there may be a preview. */
    private static final int MOST_CHARS = 128 << 10;

    private ImageSize() {}

    /**
     * @param url {@code data:image/png;base64,...}
     * @return {@code image 640x480}; null when it does not show
     */
    static @Nullable String of(String url) {
        int comma = url.indexOf(',');
        if (comma < 0 || !url.substring(0, comma).endsWith(";base64")) {
            return null;
        }
        int chars = Math.min(url.length() - comma - 1, MOST_CHARS) & ~3;
        byte[] file;
        try {
            file =
                    Base64.getDecoder()
                            .decode(
                                    url.substring(comma + 1, comma + 1 + chars)
                                            .getBytes(StandardCharsets.ISO_8859_1));
        } catch (IllegalArgumentException e) {
            return null; // no base64; the engine will say so
        }
        long size = size(ByteBuffer.wrap(file));
        return size <= 0 ? null : "image " + (size >>> 32) + "x" + (int) size;
    }

    /** Width and height in 32 bits each; 0 when it does not show. */
    private static long size(ByteBuffer file) {
        if (starts(file, 0, "\u0089PNG\r\n") && file.limit() >= 24) {
            return pair(file.getInt(16), file.getInt(20));
        }
        if (starts(file, 0, "\u00ff\u00d8")) {
            return jpeg(file);
        }
        file.order(ByteOrder.LITTLE_ENDIAN);
        if (starts(file, 0, "GIF8") && file.limit() >= 10) {
            return pair(file.getShort(6) & 0xffff, file.getShort(8) & 0xffff);
        }
        return starts(file, 0, "RIFF") && starts(file, 8, "WEBP") && file.limit() >= 30
                ? webp(file)
                : 0;
    }

    private static long webp(ByteBuffer file) {
        if (starts(file, 12, "VP8 ")) {
            return pair(file.getShort(26) & 0x3fff, file.getShort(28) & 0x3fff);
        }
        if (starts(file, 12, "VP8L")) {
            int bits = file.getInt(21);
            return pair(1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff));
        }
        return starts(file, 12, "VP8X")
                ? pair(1 + (file.getInt(24) & 0xffffff), 1 + (file.getInt(26) >>> 8))
                : 0;
    }

    /** Segments, each with its length, until one that begins a frame. */
    private static long jpeg(ByteBuffer file) {
        int at = 2;
        while (at + 9 <= file.limit() && file.get(at) == (byte) 0xff) {
            int marker = file.get(at + 1) & 0xff;
            if (marker >= 0xc0 && marker <= 0xcf && (marker == 0xc0 || marker % 4 != 0)) {
                return pair(file.getShort(at + 7) & 0xffff, file.getShort(at + 5) & 0xffff);
            }
            at += marker == 0xff ? 1 : 2 + (file.getShort(at + 2) & 0xffff);
        }
        return 0;
    }

    private static long pair(int width, int height) {
        return width > 0 && height > 0 ? ((long) width << 32) | height : 0;
    }

    private static boolean starts(ByteBuffer file, int at, String text) {
        if (file.limit() < at + text.length()) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if ((file.get(at + i) & 0xff) != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
