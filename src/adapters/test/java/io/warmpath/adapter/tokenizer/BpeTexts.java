package io.warmpath.adapter.tokenizer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Random texts of all kinds, from a seed: what tokenizers get wrong when they do. */
public final class BpeTexts {
    private static final String SPACES = " \n\r\t\u000b\u00a0\u2003\u3000\u0085a1.'";
    private static final String CONTRACTIONS = "'stmdrevlSTMDREVL \u017f1a.\n";
    private static final String DIGITS = "0123456789\u0660\u0661\u00bd.,- ";
    private static final String CASES = "aAbBzZ\u65e5\u01c5\u02b0\u0301/ '\n";
    private static final String SIGNS = "<|>[]{}()/\\*&^%$#@! \r\n\ta";
    private static final int[] COMPOSING = {
        'a', 'A', 'e', 0x1100, 0x1161, 0x11a8, 0x93c, 0x915, 0x3b1, 0xac00, 0x200d, 0xfe0f, 0x1f468
    };
    private static final String[] REPEATED = {
        "a",
        "ab",
        "=",
        "-",
        " ",
        "\n",
        "0",
        "\u00e9",
        "\u65e5",
        "\u0301",
        "'s",
        " \n",
        "12 ",
        "\ud55c",
        "\u0915\u094d",
        "\ud83d\udc69\u200d",
        "the ",
        "\u00ff",
        "\u0000"
    };

    private final Random random;
    private final List<String> corpus;
    private final List<String> added;
    private final int[] marks =
            IntStream.rangeClosed(0, Character.MAX_CODE_POINT).filter(BpeTexts::isMark).toArray();

    /**
     * @param added tokens to be written out now and then
     */
    public BpeTexts(long seed, List<String> added) {
        this.random = new Random(seed);
        this.added = added;
        this.corpus = corpus();
    }

    /** This repository's own code, pages and test data. */
    private static List<String> corpus() {
        List<String> texts = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of("src"))) {
            for (Path file : files.sorted().toList()) {
                String name = file.toString();
                boolean text = name.endsWith(".java") || name.endsWith(".md");
                if (text && Files.size(file) > 0) {
                    texts.add(Files.readString(file));
                }
            }
            for (var one : DemoModel.resource("/tokens/golden.json")) {
                texts.add(one.get("text").asText() + " ");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return texts;
    }

    private static boolean isMark(int c) {
        int type = Character.getType(c);
        return type == Character.NON_SPACING_MARK
                || type == Character.COMBINING_SPACING_MARK
                || type == Character.ENCLOSING_MARK;
    }

    public String next() {
        StringBuilder text = new StringBuilder();
        for (int pieces = 1 + random.nextInt(12); pieces > 0; pieces--) {
            append(text);
        }
        return text.toString();
    }

    private void append(StringBuilder text) {
        int length = random.nextInt(100);
        switch (random.nextInt(15)) {
            case 0, 1, 2, 3 -> {
                String from = corpus.get(random.nextInt(corpus.size()));
                int at = whole(from, random.nextInt(from.length()));
                int end = whole(from, Math.min(from.length(), at + random.nextInt(4000)));
                text.append(from, at, Math.max(at, end));
            }
            case 4 -> repeat(length, () -> text.appendCodePoint(any()));
            case 5 -> repeat(length, () -> text.appendCodePoint(0x3000 + random.nextInt(0x7000)));
            case 6 -> letters(text, SPACES, length);
            case 7 -> letters(text, CONTRACTIONS, length);
            case 8 -> letters(text, DIGITS, length);
            case 9 -> letters(text, CASES, length);
            case 10 -> letters(text, SIGNS, length);
            case 11 -> {
                int most = new int[] {10, 100, 3000}[random.nextInt(3)];
                text.repeat(REPEATED[random.nextInt(REPEATED.length)], random.nextInt(most));
            }
            case 12 -> {
                if (!added.isEmpty()) {
                    text.append(added.get(random.nextInt(added.size())));
                }
            }
            case 13 -> repeat(length, () -> text.appendCodePoint(composing()));
            default -> repeat(length, () -> text.appendCodePoint(world()));
        }
    }

    private static void repeat(int times, Runnable action) {
        for (int i = 0; i < times; i++) {
            action.run();
        }
    }

    private void letters(StringBuilder text, String from, int length) {
        repeat(length, () -> text.append(from.charAt(random.nextInt(from.length()))));
    }

    private int any() {
        int c = random.nextInt(Character.MAX_CODE_POINT + 1 - 0x800);
        return c < Character.MIN_SURROGATE ? c : c + 0x800;
    }

    private int composing() {
        return random.nextBoolean()
                ? COMPOSING[random.nextInt(COMPOSING.length)]
                : marks[random.nextInt(marks.length)];
    }

    private int world() {
        return switch (random.nextInt(8)) {
            case 0 -> 0x20 + random.nextInt(0x5f);
            case 1 -> 0xa0 + random.nextInt(0x1b0);
            case 2 -> 0x370 + random.nextInt(0x1c0);
            case 3 -> 0x590 + random.nextInt(0xa70);
            case 4 -> 0x1100 + random.nextInt(0x100);
            case 5 -> 0xac00 + random.nextInt(0x2ba4);
            case 6 -> 0x1f300 + random.nextInt(0x400);
            default -> marks[random.nextInt(marks.length)];
        };
    }

    /** Not between the two halves of a character. */
    private static int whole(String text, int at) {
        return at > 0 && at < text.length() && Character.isLowSurrogate(text.charAt(at))
                ? at - 1
                : at;
    }

    /**
     * Every code point, each with what is put around it; in texts that are not too long.
     *
     * @param unassigned also the planes 4 to 13, which nobody uses
     */
    static Stream<String> everyCodePoint(String before, String behind, boolean unassigned) {
        int step = 0x4000;
        return IntStream.rangeClosed(0, Character.MAX_CODE_POINT / step)
                .filter(block -> unassigned || block < 0x10 || block >= 0x38)
                .mapToObj(
                        block -> {
                            StringBuilder text = new StringBuilder();
                            for (int c = block * step; c < (block + 1) * step; c++) {
                                if (c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE) {
                                    text.append(before).appendCodePoint(c).append(behind);
                                }
                            }
                            return text.toString();
                        });
    }
}
