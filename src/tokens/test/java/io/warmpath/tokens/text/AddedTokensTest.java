package io.warmpath.tokens.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AddedTokensTest {
    @Test
    void the_leftmost_and_of_those_the_longest_token_is_taken() {
        Map<String, Integer> tokens = Map.of("<a>", 1, "<a>b", 2, "a>bc", 3, "c", 4);
        assertEquals(List.of("x", "2", "4"), pieces(tokens, "x<a>bc"));
        assertEquals(List.of("1", "<a", "1"), pieces(tokens, "<a><a<a>"));
        assertEquals(List.of("3"), pieces(tokens, "a>bc"));
    }

    @Test
    void a_longer_token_that_breaks_off_leaves_the_shorter_one() {
        assertEquals(List.of("1", "bcx"), pieces(Map.of("a", 1, "abcd", 2), "abcx"));
    }

    @Test
    void an_empty_content_is_no_token() {
        assertEquals(List.of("ab"), pieces(Map.of("", 7), "ab"));
        assertEquals(List.of(), pieces(Map.of("a", 1), ""));
    }

    @Test
    void random_texts_are_cut_as_the_literal_search_cuts_them() {
        for (long seed = 0; seed < 3_000; seed++) {
            Random random = new Random(seed);
            String letters = random.nextBoolean() ? "<|>a" : "<|>abcdefgh\u00e9";
            Map<String, Integer> tokens = new HashMap<>();
            for (int i = 0; i < 1 + random.nextInt(8); i++) {
                tokens.put(word(random, letters, 1 + random.nextInt(5)), 100 + i);
            }
            String text = word(random, letters, random.nextInt(60));
            assertEquals(
                    literal(tokens, text), pieces(tokens, text), "seed " + seed + ": " + tokens);
        }
    }

    private static String word(Random random, String letters, int length) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < length; i++) {
            out.append(letters.charAt(random.nextInt(letters.length())));
        }
        return out.toString();
    }

    private static List<String> literal(Map<String, Integer> tokens, String text) {
        List<String> pieces = new ArrayList<>();
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < text.length(); ) {
            String longest = "";
            for (String token : tokens.keySet()) {
                if (text.startsWith(token, i) && token.length() > longest.length()) {
                    longest = token;
                }
            }
            if (longest.isEmpty()) {
                plain.append(text.charAt(i));
                i++;
                continue;
            }
            flush(plain, pieces);
            pieces.add(String.valueOf(tokens.get(longest)));
            i += longest.length();
        }
        flush(plain, pieces);
        return pieces;
    }

    private static void flush(StringBuilder plain, List<String> pieces) {
        if (!plain.isEmpty()) {
            pieces.add(plain.toString());
            plain.setLength(0);
        }
    }

    private static List<String> pieces(Map<String, Integer> tokens, String text) {
        List<String> pieces = new ArrayList<>();
        new AddedTokens(tokens)
                .split(
                        text,
                        new AddedTokens.Visitor() {
                            @Override
                            public void text(int from, int to) {
                                pieces.add(text.substring(from, to));
                            }

                            @Override
                            public void token(int id) {
                                pieces.add(String.valueOf(id));
                            }
                        });
        return pieces;
    }
}
