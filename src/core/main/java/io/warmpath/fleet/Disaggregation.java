package io.warmpath.fleet;

/**
 * How an engine takes part in requests that are split between two: prefill on one, decoding on the
 * other. Immutable.
 *
 * @param role which part it does
 * @param alone it can answer a whole request, too
 * @param bootstrapPort where decode engines find a prefill engine's registry, at its own host; 0:
 *     it has none, or does not tell
 * @param transfer what moves the KV cache, as the engine names it; empty: it does not tell
 */
public record Disaggregation(Role role, boolean alone, int bootstrapPort, String transfer) {
    /** An engine that does whole requests. */
    public static final Disaggregation NONE = new Disaggregation(Role.BOTH, true, 0, "");

    public Disaggregation {
        if (bootstrapPort < 0 || bootstrapPort > 65535) {
            throw new IllegalArgumentException("bootstrap port " + bootstrapPort);
        }
    }

    /** A KV cache can move between the two, as far as they tell. */
    public boolean understands(Disaggregation other) {
        return transfer.isEmpty() || other.transfer.isEmpty() || transfer.equals(other.transfer);
    }

    /** What an operator says goes before what an engine says. */
    public Disaggregation or(WorkerSpec spec, EngineKind kind) {
        Role its = spec.role() == null ? role : spec.role();
        return new Disaggregation(
                its,
                its == Role.BOTH || kind != EngineKind.SGLANG,
                spec.bootstrapPort() == 0 ? bootstrapPort : spec.bootstrapPort(),
                transfer);
    }
}
