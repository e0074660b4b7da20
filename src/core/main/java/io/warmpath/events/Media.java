package io.warmpath.events;

import io.warmpath.prefix.Tier;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The engines' names of tiers. */
public final class Media {
    private Media() {}

    /** Tier of a medium; absent means device memory; null for a name that is not known. */
    static @Nullable Tier tier(@Nullable String medium) {
        if (medium == null) {
            return Tier.GPU;
        }
        return switch (medium.toUpperCase(Locale.ROOT)) {
            case "GPU", "DEVICE" -> Tier.GPU;
            case "CPU", "CPU_PINNED", "CPU_TIER1" -> Tier.HOST;
            case "CPU_TIER2", "DISK", "NVME", "STORAGE", "FS" -> Tier.DISK;
            case "EXTERNAL", "NETWORK", "REMOTE", "SHARED", "OBJ" -> Tier.EXTERNAL;
            default -> null;
        };
    }

    /** Whether this names a tier; absent does. */
    public static boolean known(@Nullable String medium) {
        return tier(medium) != null;
    }

    /** Attention kinds whose blocks must all be present for a prefix to count. */
    static boolean decidesPrefix(@Nullable String specKind) {
        return specKind == null
                || switch (specKind) {
                    case "full_attention", "mla_attention", "sink_full_attention" -> true;
                    default -> false;
                };
    }

    /**
     * How many of the last blocks of a prefix must be there in a group that is not full attention;
     * 0 when nobody knows.
     */
    static int tail(KvEvent.Scope scope, int blockSize) {
        String kind = scope.specKind();
        return switch (kind == null ? "" : kind) {
            case "sliding_window", "sliding_window_mla" ->
                    // The next token attends to itself and to window - 1 before it.
                    scope.window() < 1
                            ? 0
                            : Math.max(1, Math.ceilDiv(scope.window() - 1, blockSize));
            case "mamba" -> 1;
            default -> 0;
        };
    }
}
