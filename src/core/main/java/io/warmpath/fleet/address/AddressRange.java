package io.warmpath.fleet.address;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The IP addresses that begin with the same bits. Immutable.
 *
 * <p>Texts are read here and nowhere else, and never looked up: four decimal numbers without
 * leading zeros, or an IPv6 address without a zone. What other readers take for an address, too
 * ({@code 127.1}, {@code 0x7f000001}, {@code 2130706433}, {@code 0177.0.0.1}), is none here.
 *
 * @param bytes 4 or 16, zero behind the prefix
 * @param bits length of the prefix
 */
record AddressRange(byte[] bytes, int bits) {
    private static final Pattern V4 =
            Pattern.compile("(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})");
    private static final Pattern V6 = Pattern.compile("[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");

    AddressRange {
        bytes = bytes.clone();
    }

    @Override
    public byte[] bytes() {
        return bytes.clone();
    }

    /**
     * An address, or an address, a slash and the length of the prefix.
     *
     * @throws IllegalArgumentException saying what is wrong
     */
    static AddressRange parse(String text) {
        int slash = text.indexOf('/');
        String first = slash < 0 ? text : text.substring(0, slash);
        byte[] bytes =
                literal(first)
                        .orElseThrow(
                                () ->
                                        new IllegalArgumentException(
                                                "`" + first + "` is no IP address"));
        int bits = 8 * bytes.length;
        if (slash >= 0) {
            String length = text.substring(slash + 1);
            if (!length.matches("\\d{1,3}") || Integer.parseInt(length) > bits) {
                throw new IllegalArgumentException(
                        "`" + length + "` is no length of a prefix, 0 to " + bits);
            }
            bits = Integer.parseInt(length);
        }
        AddressRange range = new AddressRange(bytes, bits);
        if (!Arrays.equals(bytes, range.masked(bytes))) {
            throw new IllegalArgumentException("`" + text + "` has bits behind its prefix");
        }
        return range;
    }

    /** The bytes of an address, IPv4 in IPv6 as IPv4; empty: the text is none. */
    static Optional<byte[]> literal(String text) {
        Matcher v4 = V4.matcher(text);
        if (v4.matches()) {
            byte[] bytes = new byte[4];
            for (int i = 0; i < bytes.length; i++) {
                String part = v4.group(i + 1);
                int value = Integer.parseInt(part);
                if (value > 255 || (part.length() > 1 && part.charAt(0) == '0')) {
                    return Optional.empty();
                }
                bytes[i] = (byte) value;
            }
            return Optional.of(bytes);
        }
        if (!V6.matcher(text).matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(InetAddress.getByName(text).getAddress()); // no name: no look-up
        } catch (UnknownHostException e) {
            return Optional.empty();
        }
    }

    /**
     * The address and all IPv4 addresses that it leads to: those of NAT64, 6to4, Teredo and of the
     * compatible form of IPv6.
     */
    static List<byte[]> withEmbedded(byte[] address) {
        List<byte[]> all = new ArrayList<>(List.of(address));
        if (address.length == 16) {
            byte[] end = Arrays.copyOfRange(address, 12, 16);
            if (starts(address, 0, 0x64, 0xff, 0x9b) || isZero(address, 0, 12)) {
                all.add(end);
            } else if (starts(address, 0x20, 0x02)) {
                all.add(Arrays.copyOfRange(address, 2, 6));
            } else if (starts(address, 0x20, 0x01, 0, 0)) {
                for (int i = 0; i < end.length; i++) {
                    end[i] = (byte) ~end[i];
                }
                all.add(end);
            }
        }
        return all;
    }

    private static boolean starts(byte[] address, int... with) {
        for (int i = 0; i < with.length; i++) {
            if ((address[i] & 0xff) != with[i]) {
                return false;
            }
        }
        return true;
    }

    /**
     * The loopback address and the unspecified one have zeros there, too, and say so themselves.
     */
    private static boolean isZero(byte[] address, int from, int to) {
        for (int i = from; i < to; i++) {
            if (address[i] != 0) {
                return false;
            }
        }
        return address[12] != 0 || address[13] != 0 || address[14] != 0;
    }

    boolean contains(byte[] address) {
        return address.length == bytes.length && Arrays.equals(bytes, masked(address));
    }

    /** All of the other's addresses are among these. */
    boolean contains(AddressRange other) {
        return other.bits >= bits && contains(other.bytes);
    }

    private byte[] masked(byte[] address) {
        byte[] masked = address.clone();
        for (int i = 0; i < masked.length; i++) {
            int keep = Math.clamp(bits - 8L * i, 0, 8);
            masked[i] = (byte) (masked[i] & (0xff00 >> keep));
        }
        return masked;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof AddressRange r && r.bits == bits && Arrays.equals(r.bytes, bytes);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(bytes) + bits;
    }

    @Override
    public String toString() {
        return text(bytes) + "/" + bits;
    }

    static String text(byte[] address) {
        try {
            return InetAddress.getByAddress(address).getHostAddress();
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("an address has 4 or 16 bytes", e);
        }
    }
}
