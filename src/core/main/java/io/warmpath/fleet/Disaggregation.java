package io.warmpath.fleet;

import java.net.URI;
import java.util.List;

/**
 * How an engine takes part in requests that are split between two: prefill on one, decoding on the
 * other. Immutable.
 *
 * @param role which part it does
 * @param alone it can answer a whole request, too
 * @param bootstrapPort where decode engines find a prefill engine's registry, at its own host; 0:
 *     it has none, or does not tell
 * @param transfer what moves the KV cache, as the engine names it; empty: it does not tell
 * @param registered the names under which its registry knows its ranks; empty: it has none that
 *     names them
 */
public record Disaggregation(
        Role role, boolean alone, int bootstrapPort, String transfer, List<String> registered) {
    /** An engine that does whole requests. */
    public static final Disaggregation NONE = new Disaggregation(Role.BOTH, true, 0, "");

    /** Its registry names no ranks. */
    public Disaggregation(Role role, boolean alone, int bootstrapPort, String transfer) {
        this(role, alone, bootstrapPort, transfer, List.of());
    }

    public Disaggregation {
        registered = List.copyOf(registered);
        if (bootstrapPort < 0 || bootstrapPort > 65535) {
            throw new IllegalArgumentException("bootstrap port " + bootstrapPort);
        }
    }

    /** It computes no prompts: others fill its cache, and its events owe nothing. */
    public boolean decodesOnly() {
        return role == Role.DECODE && !alone;
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
                its == Role.BOTH || (its != Role.ENCODE && kind != EngineKind.SGLANG),
                spec.bootstrapPort() == 0 ? bootstrapPort : spec.bootstrapPort(),
                transfer,
                registered);
    }

    /**
     * Where its registry is, for those that it has told of one. {@code worker}: the engine's URL.
     */
    public URI registry(URI worker) {
        return URI.create("http://" + EngineAddress.hostOf(worker) + ":" + bootstrapPort);
    }

    /** With what its registry says. */
    public Disaggregation with(String transferBy, List<String> ranks) {
        return new Disaggregation(role, alone, bootstrapPort, transferBy, ranks);
    }
}
