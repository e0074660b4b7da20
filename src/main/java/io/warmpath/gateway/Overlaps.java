package io.warmpath.gateway;

import io.warmpath.fleet.Candidate;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Who is known, or taken, to hold how much of a prompt. Any thread, on event loops too:
 * microseconds. A failure is an exception; the caller goes on without.
 */
public interface Overlaps {
    /** For a gateway that looks at load alone. */
    Overlaps NONE =
            new Overlaps() {
                @Override
                public List<PrefixMatch> matches(
                        String model, PrefixSpace space, List<Candidate> candidates, int[] tokens) {
                    return List.of();
                }

                @Override
                public void booked(String model, PrefixSpace space, Candidate to, int[] tokens) {}
            };

    /** One answer for each block size among the candidates that is known. */
    List<PrefixMatch> matches(
            String model, PrefixSpace space, List<Candidate> candidates, int[] tokens);

    /** The prompt goes to this candidate. Nothing when that has left in this moment. */
    void booked(String model, PrefixSpace space, Candidate to, int[] tokens);

    /**
     * Engines have told what is known, with their own token ids; false: it was told with those
     * predicted here, which find themselves again however wrong they are.
     */
    default boolean toldByEngines() {
        return false;
    }

    /** Forgets what is due; to be called now and then, not on an event loop. */
    default void tidy() {}

    /** The same answers, and nothing booked: for requests that are not real. */
    default Overlaps askedOnly() {
        Overlaps real = this;
        return new Overlaps() {
            @Override
            public List<PrefixMatch> matches(
                    String model, PrefixSpace space, List<Candidate> candidates, int[] tokens) {
                return real.matches(model, space, candidates, tokens);
            }

            @Override
            public void booked(String model, PrefixSpace space, Candidate to, int[] tokens) {}

            @Override
            public boolean toldByEngines() {
                return real.toldByEngines();
            }
        };
    }

    /** Asks once for each known block size among the candidates. */
    static List<PrefixMatch> oncePerBlockSize(
            List<Candidate> candidates,
            PrefixSpace space,
            int[] tokens,
            Function<PrefixQuery, PrefixMatch> ask) {
        List<PrefixMatch> matches = new ArrayList<>(1);
        for (int i = 0; i < candidates.size(); i++) {
            int blockSize = candidates.get(i).worker().blockSize();
            if (blockSize > 0 && !asked(matches, blockSize)) {
                matches.add(ask.apply(new PrefixQuery(tokens, tokens.length, blockSize, space)));
            }
        }
        return matches;
    }

    private static boolean asked(List<PrefixMatch> matches, int blockSize) {
        for (int i = 0; i < matches.size(); i++) {
            if (matches.get(i).blockSize() == blockSize) {
                return true;
            }
        }
        return false;
    }
}
