package io.warmpath.pool;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A release of SGLang, as far as keys depend on it. Candidates, posts and nightly builds count as
 * the release they are named after.
 */
public record SglangVersion(int major, int minor, int patch) implements Comparable<SglangVersion> {
    private static final Pattern FORM =
            Pattern.compile("v?(\\d{1,4})\\.(\\d{1,4})\\.(\\d{1,4})\\D?.*");
    private static final Comparator<SglangVersion> ORDER =
            Comparator.comparingInt(SglangVersion::major)
                    .thenComparingInt(SglangVersion::minor)
                    .thenComparingInt(SglangVersion::patch);

    /** From what {@code /server_info} says, such as {@code 0.5.17} or {@code 0.5.20.post1}. */
    public static Optional<SglangVersion> parse(String text) {
        Matcher m = FORM.matcher(text.strip());
        return m.matches()
                ? Optional.of(
                        new SglangVersion(
                                Integer.parseInt(m.group(1)),
                                Integer.parseInt(m.group(2)),
                                Integer.parseInt(m.group(3))))
                : Optional.empty();
    }

    /** Whether this is 0.5.{@code patch} or later. */
    boolean since(int patchOf05) {
        return compareTo(new SglangVersion(0, 5, patchOf05)) >= 0;
    }

    @Override
    public int compareTo(SglangVersion other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return major + "." + minor + "." + patch;
    }
}
