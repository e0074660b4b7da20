package io.warmpath.config.source;

import java.util.Arrays;
import java.util.Collection;
import java.util.Optional;

/** Finds the word that was probably meant. */
final class Nearest {
    private Nearest() {}

    /** The known word with the fewest edits, when these are few for its length. */
    static Optional<String> to(String word, Collection<String> known) {
        String best = null;
        int least = Math.max(2, word.length() / 3) + 1;
        for (String k : known) {
            int d = distance(word, k);
            if (d < least) {
                least = d;
                best = k;
            }
        }
        return Optional.ofNullable(best);
    }

    /** Levenshtein distance. */
    static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        Arrays.setAll(row, j -> j);
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int substituted = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(substituted, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}
