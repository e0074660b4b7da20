package io.warmpath.tokens.template;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.prefix.MediaIds;
import io.warmpath.tokens.profile.Medium;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is learnt of media from blocks that an engine says it has stored. */
class LearntMediaTest {
    private static final int PLACEHOLDER = 9;
    private static final int VOCABULARY = 3; // so few that wrong places look right

    private final LearntMedia learnt = new LearntMedia();

    /** An image whose length is known, and what the engine makes of it. */
    private record Image(Medium medium, int length, int[] turn) {
        int[] ids() {
            return IntStream.range(0, length).map(i -> turn[i % turn.length]).toArray();
        }
    }

    private Image image(String content, int length, int... turn) {
        Medium medium = new Medium("image", content, false, "image " + length, content);
        learnt.lesson(List.of(medium), new int[] {PLACEHOLDER}, new int[] {0}).answered(length);
        return new Image(medium, length, turn);
    }

    /** A prompt of texts with images between. */
    private final class Prompt {
        private final List<Integer> ids = new ArrayList<>();
        private final List<Integer> text = new ArrayList<>();
        private final List<Integer> places = new ArrayList<>();
        private final List<Medium> media = new ArrayList<>();

        Prompt text(int... more) {
            for (int id : more) {
                ids.add(id);
                text.add(id);
            }
            return this;
        }

        Prompt image(Image image) {
            places.add(text.size());
            text.add(PLACEHOLDER);
            media.add(image.medium());
            for (int id : image.ids()) {
                ids.add(id);
            }
            return this;
        }

        LearntMedia.Lesson lesson() {
            return learnt.lesson(media, ints(text), ints(places));
        }

        int[] from(int start, int end) {
            return ints(ids.subList(start, end));
        }
    }

    private static int[] ints(List<Integer> list) {
        return list.stream().mapToInt(Integer::intValue).toArray();
    }

    private int[] known(Image image) {
        MediaIds ids = learnt.ids(image.medium());
        int[] out = new int[image.length()];
        if (ids != null) {
            ids.put(out, 0, 0, out.length);
        }
        return out;
    }

    @Test
    void ids_are_those_that_stand_in_a_medium_s_place() {
        Image image = image("a", 6, -1, -2, -3, -4);
        Prompt prompt = new Prompt().text(0, 1, 2, 1).image(image).text(1, 1, 0);
        LearntMedia.Lesson lesson = prompt.lesson();
        assertTrue(lesson.hasContent());
        assertFalse(lesson.stored(prompt.from(4, 8), 4, 13, 4)); // there is more of the prompt
        assertFalse(lesson.stored(prompt.from(4, 12), 4, 13, 0));
        assertFalse(lesson.stored(prompt.from(4, 12), 4, 14, 4)); // of another length
        assertFalse(lesson.stored(prompt.from(4, 12), 4, 13, 3L << 30)); // beyond the prompt
        assertFalse(lesson.stored(prompt.from(4, 12), 4, 13, -4));
        assertNull(learnt.ids(image.medium()));
        assertTrue(lesson.stored(prompt.from(4, 12), 4, 13, 4));
        assertArrayEquals(image.ids(), known(image));
    }

    @Test
    void what_does_not_take_turns_is_no_medium_of_such_an_engine() {
        Image image = image("a", 6, -1, -2, -3, -4, -5);
        Prompt prompt = new Prompt().text(0, 1).image(image).text(1, 1, 0, 2);
        prompt.lesson().stored(prompt.from(0, 12), 4, 12, 0);
        assertNull(learnt.ids(image.medium()));
    }

    @Test
    void a_medium_that_lies_elsewhere_is_not_learnt() {
        Medium elsewhere = new Medium("image", null, false, "image 5", null);
        learnt.lesson(List.of(elsewhere), new int[] {PLACEHOLDER}, new int[] {0}).answered(5);
        LearntMedia.Lesson lesson =
                learnt.lesson(List.of(elsewhere), new int[] {1, PLACEHOLDER, 2}, new int[] {1});
        assertFalse(lesson.hasContent());
        assertTrue(lesson.stored(new int[] {1, -1, -2, -3, -4, -1, 2}, 1, 7, 0));
        assertNull(learnt.ids(elsewhere));
    }

    /**
     * Prompts that an engine has computed from some block on, and answers behind them: what it has
     * computed is learnt, and what is learnt is right.
     */
    @Test
    void whatever_is_cached_nothing_wrong_is_learnt() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Image> images = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            int length = 4 + random.nextInt(20);
            images.add(image("i" + i, length, random.ints(4, Integer.MIN_VALUE, 0).toArray()));
        }
        int computed = 0;
        int found = 0;
        for (int i = 0; i < 2_000; i++) {
            int blockSize = random.nextBoolean() ? 1 : 4;
            Prompt prompt = new Prompt();
            List<Image> used = new ArrayList<>();
            int last = 0;
            for (int n = 1 + random.nextInt(3); n > 0; n--) {
                prompt.text(random.ints(random.nextInt(6), 0, VOCABULARY).toArray());
                used.add(images.get((i + random.nextInt(3)) % images.size()));
                last = prompt.ids.size();
                prompt.image(used.getLast());
            }
            prompt.text(random.ints(1 + random.nextInt(6), 0, VOCABULARY).toArray());
            LearntMedia.Lesson lesson = prompt.lesson();
            int length = prompt.ids.size();
            int cached = random.nextInt((length - 1) / blockSize + 1) * blockSize;
            int answer = 1 + random.nextInt(8);
            prompt.text(random.ints(answer, 0, VOCABULARY).toArray());
            int end = (length + random.nextInt(answer)) / blockSize * blockSize;
            boolean all = last >= cached && last + used.getLast().length() <= end;
            boolean right =
                    end > cached
                            && lesson.stored(prompt.from(cached, end), blockSize, length, cached);
            // Some of it was lost on the way, or another request has stored it.
            int gone = random.nextInt(end - Math.min(cached, end) + 1) / blockSize * blockSize;
            boolean wrong =
                    gone > 0
                            && lesson.stored(
                                    prompt.from(cached + gone, end), blockSize, length, cached);
            assertTrue(!wrong || right, "seed " + seed + ", prompt " + i);
            for (Image image : used) {
                if (learnt.ids(image.medium()) != null) {
                    assertArrayEquals(image.ids(), known(image), "seed " + seed + ", prompt " + i);
                }
            }
            if (all) {
                computed++;
                found += right ? 1 : 0;
                if (right) {
                    assertNotNull(learnt.ids(used.getLast().medium()), "seed " + seed);
                }
            }
        }
        assertTrue(computed > 500, "seed " + seed + ": only " + computed + " were computed");
        assertEquals(computed, found, "seed " + seed);
    }
}
