package io.warmpath.tokens.text;

/**
 * Makes tokenizers that give exactly the ids of the reference library, at a fraction of its cost.
 */
@FunctionalInterface
public interface BpeTokenizers {
    /**
     * @return closed by the caller
     * @throws IllegalArgumentException when the parts do not fit together, or this machine cannot
     *     run it; the message says which
     */
    TextTokenizer open(BpeParts parts);
}
