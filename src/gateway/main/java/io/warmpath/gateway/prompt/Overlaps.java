package io.warmpath.gateway.prompt;

import io.warmpath.fleet.Candidate;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.tokens.PromptIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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
                        String model,
                        PrefixSpace space,
                        List<Candidate> candidates,
                        PromptContent prompt) {
                    return List.of();
                }

                @Override
                public void booked(
                        String model, PrefixSpace space, Candidate to, PromptContent prompt) {}
            };

    /**
     * One answer for each block size among the candidates that is known.
     *
     * @param prompt as {@link #prompts} makes it, in the same space; by its ids where there is none
     */
    List<PrefixMatch> matches(
            String model, PrefixSpace space, List<Candidate> candidates, PromptContent prompt);

    /** The prompt goes to this candidate. Nothing when that has left in this moment. */
    void booked(String model, PrefixSpace space, Candidate to, PromptContent prompt);

    /** What makes prompts ready to be asked about, in one go; null: it takes ids. */
    default @Nullable PromptIndex prompts() {
        return null;
    }

    /**
     * What is known came from engines, with their own token ids; false: it was recorded with those
     * predicted here, which find themselves again however wrong they are.
     */
    default boolean reportedByEngines() {
        return false;
    }

    /** It can be asked about prompts that are known by their text alone. */
    default boolean takesTexts() {
        return false;
    }

    /** Forgets what is due; to be called now and then, not on an event loop. */
    default void tidy() {}

    /**
     * The same answers, and nothing booked: for requests that are not real.
     *
     * @param memoryBytes what their prompts may be remembered in, apart from real ones
     */
    default Overlaps askedOnly(long memoryBytes) {
        Overlaps real = this;
        PromptIndex prompts = prompts();
        PromptIndex apart = prompts == null ? null : prompts.apart(memoryBytes);
        return new Overlaps() {
            @Override
            public List<PrefixMatch> matches(
                    String model,
                    PrefixSpace space,
                    List<Candidate> candidates,
                    PromptContent prompt) {
                return real.matches(model, space, candidates, prompt);
            }

            @Override
            public void booked(
                    String model, PrefixSpace space, Candidate to, PromptContent prompt) {}

            @Override
            public @Nullable PromptIndex prompts() {
                return apart;
            }

            @Override
            public boolean reportedByEngines() {
                return real.reportedByEngines();
            }

            @Override
            public boolean takesTexts() {
                return real.takesTexts();
            }
        };
    }

    /** Asks once for each known block size among the candidates. */
    static List<PrefixMatch> oncePerBlockSize(
            List<Candidate> candidates,
            PrefixSpace space,
            PromptContent prompt,
            Function<PrefixQuery, PrefixMatch> ask) {
        List<PrefixMatch> matches = new ArrayList<>(1);
        for (int i = 0; i < candidates.size(); i++) {
            int blockSize = candidates.get(i).worker().blockSize();
            if (blockSize > 0 && !asked(matches, blockSize)) {
                PrefixQuery query = prompt.query(blockSize, space);
                if (query != null) {
                    matches.add(ask.apply(query));
                }
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
