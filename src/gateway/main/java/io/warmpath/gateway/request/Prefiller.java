package io.warmpath.gateway.request;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineAddress;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Who is to compute the prompt for the worker that answers, as somebody before the gateway has it.
 * Immutable.
 *
 * @param worker its id, u64
 * @param addresses as {@code host:port}; one of them
 */
public record Prefiller(OptionalLong worker, List<String> addresses) {
    /** The header of llm-d's sidecars, which stand before engines that decode. */
    public static final String HEADER = "x-prefiller-host-port";

    /** The gateway chooses. */
    public static final Prefiller ANY = new Prefiller(OptionalLong.empty(), List.of());

    public Prefiller {
        addresses = List.copyOf(addresses);
    }

    /** {@code header}: null: nobody is named by address. */
    public static Prefiller of(OptionalLong worker, @Nullable String header) {
        if (header == null) {
            return worker.isEmpty() ? ANY : new Prefiller(worker, List.of());
        }
        List<String> addresses =
                Arrays.stream(header.split(",", -1))
                        .map(String::strip)
                        .filter(a -> !a.isEmpty())
                        .toList();
        return new Prefiller(worker, addresses);
    }

    /** How {@code worker} is named in the header. */
    public static String address(Candidate worker) {
        return EngineAddress.of(worker.worker().url()).hostAndPort();
    }

    /** The gateway chooses. */
    public boolean isAny() {
        return worker.isEmpty() && addresses.isEmpty();
    }

    /** This one is meant. */
    public boolean names(Candidate candidate) {
        return worker.isPresent()
                ? worker.getAsLong() == candidate.worker().id()
                : addresses.contains(address(candidate));
    }
}
