package io.warmpath.sim.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Writes answers: plain words, the same for the same prompt and seed.
 *
 * <p>As with a model that takes the most probable token, the next word depends on all tokens before
 * it and on nothing else: a prompt that ends with the first words of an answer is gone on with as
 * that answer was.
 *
 * <p>Only words that survive decode and encode unchanged are used, so an answer sent back as a
 * message of the next turn has the token ids that were generated, and its blocks are found in the
 * cache. The limit: a word of several tokens that {@code max_tokens} cuts in two may be encoded
 * differently; words of one token are preferred where the vocabulary has enough of them.
 *
 * <p>Immutable after construction; any thread.
 */
public final class AnswerWriter {
    private static final int ENOUGH = 16;
    private static final List<String> WORDS =
            List.of(
                    ("the of and to in is that it was for on are with as at be this have from or one"
                                    + " had by word but not what all were we when your can said there use an"
                                    + " each which she do how their if will up other about out many then them"
                                    + " these so some her would make like him into time has look two more"
                                    + " write go see number no way could people my than first water been call"
                                    + " who oil its now find long down day did get come made may part over new"
                                    + " sound take only little work know place year live me back give most"
                                    + " very after thing our just name good sentence man think say great where"
                                    + " help through much before line right too mean old any same tell boy"
                                    + " follow came want show also around form three small set put end does"
                                    + " another well large must big even such because turn here why ask went"
                                    + " men read need land different home us move try kind hand picture again"
                                    + " change off play spell air away animal house point page letter mother"
                                    + " answer found study still learn should world")
                            .split(" "));

    private final long seed;
    private final int end;
    private final List<int[]> openers;
    private final List<int[]> followers;
    private final Map<Integer, String> pieces = new HashMap<>();
    private final int[] opening;

    /**
     * @throws IllegalArgumentException when the tokenizer has no {@code <|im_end|>} or keeps no
     *     English word intact
     */
    public AnswerWriter(SimTokenizer tokenizer, long seed) {
        this.seed = seed;
        int[] endIds = tokenizer.encode(ChatMl.END);
        if (endIds.length != 1) {
            throw new IllegalArgumentException(
                    "the tokenizer has no "
                            + ChatMl.END
                            + " token; a ChatML model's tokenizer.json is needed");
        }
        this.end = endIds[0];
        this.pieces.put(end, "");
        this.opening = tokenizer.encode(ChatMl.OPENING);
        this.openers = usable(tokenizer, "");
        this.followers = usable(tokenizer, " ");
        if (openers.isEmpty() || followers.isEmpty()) {
            throw new IllegalArgumentException("the tokenizer keeps no English word intact");
        }
    }

    /** The token that ends an answer by itself. */
    public int endToken() {
        return end;
    }

    /**
     * @param length tokens wanted, at least 1
     * @param endsByItself the last one is the end token
     */
    public int[] write(int[] prompt, int length, boolean endsByItself) {
        int[] answer = new int[length];
        int words = endsByItself ? length - 1 : length;
        int before = Arrays.hashCode(prompt); // of all tokens so far
        boolean begins = prompt.length == 0 || !pieces.containsKey(prompt[prompt.length - 1]);
        for (int filled = 0; filled < words; ) {
            List<int[]> choice = begins ? openers : followers;
            begins = false;
            SplittableRandom random = new SplittableRandom(seed * 31 + before);
            int[] word = choice.get(random.nextInt(choice.size()));
            int n = Math.min(word.length, words - filled);
            System.arraycopy(word, 0, answer, filled, n);
            filled += n;
            for (int i = 0; i < n; i++) {
                before = 31 * before + word[i]; // as Arrays.hashCode goes on
            }
        }
        if (endsByItself) {
            answer[length - 1] = end;
        }
        return answer;
    }

    /** Tokens of the answer that this prompt of a chat ends with; 0 when none has begun. */
    public int begun(int[] prompt) {
        int at = prompt.length;
        while (at > 0 && pieces.containsKey(prompt[at - 1]) && prompt[at - 1] != end) {
            at--;
        }
        boolean opened =
                at >= opening.length
                        && Arrays.equals(
                                prompt, at - opening.length, at, opening, 0, opening.length);
        return opened ? prompt.length - at : 0;
    }

    /** Text that this token of an answer adds. */
    public String piece(int token) {
        String piece = pieces.get(token);
        if (piece == null) {
            throw new IllegalArgumentException("token " + token + " is no part of an answer");
        }
        return piece;
    }

    private List<int[]> usable(SimTokenizer tokenizer, String before) {
        List<int[]> single = new ArrayList<>();
        List<int[]> all = new ArrayList<>();
        // Decoders may drop a leading space at the very start, so everything follows an anchor.
        int[] anchor = tokenizer.encode("a");
        for (String word : WORDS) {
            String text = before + word;
            int[] ids = tokenizer.encode(text);
            Map<Integer, String> found = new HashMap<>();
            if (!splits(tokenizer, anchor, ids, text, found)) {
                continue;
            }
            pieces.putAll(found);
            all.add(ids);
            if (ids.length == 1) {
                single.add(ids);
            }
        }
        return single.size() >= ENOUGH ? single : all;
    }

    /** Fills {@code found} with each token's text; false when they do not add up to the word. */
    private boolean splits(
            SimTokenizer tokenizer,
            int[] anchor,
            int[] ids,
            String text,
            Map<Integer, String> found) {
        int[] sequence = Arrays.copyOf(anchor, anchor.length + ids.length);
        String before = tokenizer.decode(anchor);
        StringBuilder sum = new StringBuilder();
        for (int i = 0; i < ids.length; i++) {
            sequence[anchor.length + i] = ids[i];
            String after = tokenizer.decode(Arrays.copyOf(sequence, anchor.length + i + 1));
            if (!after.startsWith(before)) {
                return false;
            }
            String piece = after.substring(before.length());
            String other = pieces.get(ids[i]);
            if (other != null && !other.equals(piece)) {
                return false;
            }
            found.put(ids[i], piece);
            sum.append(piece);
            before = after;
        }
        return sum.toString().equals(text);
    }
}
