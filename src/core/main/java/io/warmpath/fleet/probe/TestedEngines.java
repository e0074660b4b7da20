package io.warmpath.fleet.probe;

import io.warmpath.fleet.EngineKind;

/**
 * The engines' versions that this was tested with: the checks with real engines run these. Others
 * are used all the same. Stateless.
 */
public final class TestedEngines {
    private TestedEngines() {}

    /** Empty for kinds of which there is none. */
    public static String version(EngineKind kind) {
        return switch (kind) {
            case SGLANG -> "0.5.23";
            case VLLM -> "0.32.0";
            case TRTLLM, OPENAI -> "";
        };
    }

    /**
     * Builds and later releases of the same version are taken for it: {@code v0.32.0+cpu}, {@code
     * 0.5.23.post1}. {@code said}: as the engine writes it; empty when it has not.
     */
    public static boolean isTested(EngineKind kind, String said) {
        String tested = version(kind);
        String version = said.startsWith("v") ? said.substring(1) : said;
        return !tested.isEmpty()
                && version.startsWith(tested)
                && (version.length() == tested.length()
                        || ".+-".indexOf(version.charAt(tested.length())) >= 0);
    }
}
