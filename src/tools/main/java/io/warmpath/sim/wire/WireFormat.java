package io.warmpath.sim.wire;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Whose event shape a simulated engine imitates. */
public enum WireFormat {
    /** SGLang 0.5.18: event arrays, metadata map behind a salted store. */
    SGLANG_ARRAY(true, false, false),
    /** SGLang 0.5.23: event maps, optional fields left out. */
    SGLANG_MAP(true, true, true),
    /** vLLM 0.19.1: event arrays. */
    VLLM_ARRAY(false, false, false),
    /** vLLM 0.33.0: event maps. */
    VLLM_MAP(false, true, true);

    private final boolean sglang;
    private final boolean map;
    private final boolean replayTopic;

    WireFormat(boolean sglang, boolean map, boolean replayTopic) {
        this.sglang = sglang;
        this.map = map;
        this.replayTopic = replayTopic;
    }

    public boolean sglang() {
        return sglang;
    }

    public boolean map() {
        return map;
    }

    /** True when replies of the replay socket carry the topic. */
    public boolean replayTopic() {
        return replayTopic;
    }

    /** As written in flags: {@code sglang-map}. */
    public String flag() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * @throws IllegalArgumentException naming the known formats
     */
    public static WireFormat of(String flag) {
        return Arrays.stream(values())
                .filter(w -> w.flag().equals(flag))
                .findFirst()
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "unknown wire format '"
                                                + flag
                                                + "'; use one of "
                                                + Arrays.stream(values())
                                                        .map(WireFormat::flag)
                                                        .collect(Collectors.joining(", "))));
    }
}
