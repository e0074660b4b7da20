package io.warmpath.config.setting;

import java.util.List;
import java.util.stream.Stream;

/** What a {@link Setting} says, as values. Immutable. */
public record SettingNotes(
        String doc,
        String unset,
        String unit,
        List<String> flags,
        List<String> offFlags,
        List<String> env,
        double min,
        double max,
        String minTime,
        String maxTime,
        String minSize,
        String maxSize,
        boolean secret) {
    /** Those that set it, then those that set it to false. */
    public List<String> allFlags() {
        return Stream.concat(flags.stream(), offFlags.stream()).toList();
    }
}
