package io.warmpath.upstream.tls;

import io.warmpath.fleet.EngineAddress;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The API keys that engines want, as values of {@code Authorization}. Any thread; replaced as a
 * whole.
 */
public final class EngineKeys {
    private static final String OTHERS = "*";

    private volatile Map<String, String> byAddress;

    private EngineKeys(Map<String, String> byAddress) {
        this.byAddress = byAddress;
    }

    /** No engine wants one. */
    public static EngineKeys none() {
        return new EngineKeys(Map.of());
    }

    /**
     * @param all for engines that the lines do not name
     * @param lines {@code HOST:PORT KEY}, {@code * KEY}, comments after {@code #}
     * @throws IllegalArgumentException that names the line and not what is in it
     */
    public static EngineKeys of(Optional<String> all, String lines) {
        return new EngineKeys(read(all, lines));
    }

    /** As {@link #of}, from now on. */
    public void replace(Optional<String> all, String lines) {
        byAddress = read(all, lines);
    }

    private static Map<String, String> read(Optional<String> all, String lines) {
        Map<String, String> keys = new HashMap<>();
        all.ifPresent(key -> keys.put(OTHERS, bearer(key.strip(), "the key for all engines")));
        int number = 0;
        for (String line : lines.lines().toList()) {
            number++;
            String text = line.strip();
            if (text.isEmpty() || text.startsWith("#")) {
                continue;
            }
            String[] parts = text.split("\\s+", -1);
            if (parts.length != 2) {
                throw new IllegalArgumentException("line " + number + " is not `HOST:PORT KEY`");
            }
            keys.put(parts[0], bearer(parts[1], "line " + number));
        }
        return Map.copyOf(keys);
    }

    private static String bearer(String key, String where) {
        if (key.isEmpty() || !key.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw new IllegalArgumentException(
                    where + ": a key has printable ASCII characters only, and no blank");
        }
        return "Bearer " + key;
    }

    /** Null: it wants none. Parses the address, but only where there are keys. */
    public @Nullable String of(URI worker) {
        Map<String, String> keys = byAddress;
        if (keys.isEmpty()) {
            return null;
        }
        String others = keys.get(OTHERS);
        if (keys.size() == 1 && others != null) {
            return others;
        }
        EngineAddress at = EngineAddress.of(worker);
        String named =
                keys.get(at.socket() == null ? at.host() + ':' + at.port() : "unix:" + at.socket());
        return named == null ? others : named;
    }
}
