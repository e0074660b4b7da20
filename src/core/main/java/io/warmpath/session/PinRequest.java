package io.warmpath.session;

import java.util.Locale;

/**
 * The client wants the prompt's prefix kept in cache ({@code nvext.cache_control}).
 *
 * @param ttlSeconds for how long, {@link #MIN_TTL_SECONDS} to {@link #MAX_TTL_SECONDS}
 */
public record PinRequest(int ttlSeconds) {
    public static final int MIN_TTL_SECONDS = 300;
    public static final int MAX_TTL_SECONDS = 3600;

    public PinRequest {
        if (ttlSeconds < MIN_TTL_SECONDS || ttlSeconds > MAX_TTL_SECONDS) {
            throw new IllegalArgumentException("pin for " + ttlSeconds + " s");
        }
    }

    /** So long, as far as the limits allow. */
    public static PinRequest of(long seconds) {
        return new PinRequest(Math.clamp(seconds, MIN_TTL_SECONDS, MAX_TTL_SECONDS));
    }

    /**
     * {@code "600"}, {@code "600s"}, {@code "5m"} or {@code "1h"}, as far as the limits allow; the
     * shortest for what is none of these.
     */
    public static PinRequest of(String ttl) {
        String text = ttl.strip().toLowerCase(Locale.ROOT);
        int digits = 0;
        long n = 0;
        for (; digits < text.length(); digits++) {
            char c = text.charAt(digits);
            if (c < '0' || c > '9') {
                break;
            }
            n = Math.min(MAX_TTL_SECONDS, n * 10 + (c - '0'));
        }
        if (digits == 0) {
            return new PinRequest(MIN_TTL_SECONDS);
        }
        return switch (text.substring(digits)) {
            case "", "s" -> of(n);
            case "m" -> of(n * 60);
            case "h" -> of(n * 3600);
            default -> new PinRequest(MIN_TTL_SECONDS);
        };
    }

    /** The one of the two that lasts longer. */
    public PinRequest orLonger(PinRequest other) {
        return other.ttlSeconds > ttlSeconds ? other : this;
    }
}
