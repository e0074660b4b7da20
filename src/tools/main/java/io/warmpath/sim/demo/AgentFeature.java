package io.warmpath.sim.demo;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.sim.AgentFeatures;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the gateway can do for agents: with each of them the workload is played once. */
enum AgentFeature {
    AFFINITY("session affinity"),
    PREFILL("speculative prefill"),
    PRIORITY("priority"),
    SESSIONS("session control"),
    PINS("pins");

    private static final int IMPORTANT = 10;
    private static final double PINNED_RATIO = 0.8;

    private final String title;

    AgentFeature(String title) {
        this.title = title;
    }

    /** None of them, each alone, all together. {@code few}: none and all only. */
    static List<Set<AgentFeature>> runs(boolean few) {
        List<Set<AgentFeature>> runs = new ArrayList<>();
        runs.add(EnumSet.noneOf(AgentFeature.class));
        for (AgentFeature f : few ? new AgentFeature[0] : values()) {
            runs.add(EnumSet.of(f));
        }
        runs.add(EnumSet.allOf(AgentFeature.class));
        return runs;
    }

    /** How a run is named in tables. */
    static String title(Set<AgentFeature> of) {
        return switch (of.size()) {
            case 0 -> "none of them";
            case 1 -> of.iterator().next().title;
            default -> "all of them";
        };
    }

    /** What the engines are started with. */
    static AgentFeatures engines(Set<AgentFeature> of) {
        AgentFeatures features = AgentFeatures.NONE;
        if (of.contains(PRIORITY)) {
            features = features.withPriorityScheduling(false).withPriorityEviction();
        }
        if (of.contains(SESSIONS)) {
            features = features.withRadixSessions();
        }
        return of.contains(PINS) ? features.withPins(PINNED_RATIO) : features;
    }

    /** Environment of the gateway. */
    static Map<String, String> gateway(Set<AgentFeature> of) {
        Map<String, String> settings = new HashMap<>();
        if (of.contains(AFFINITY)) {
            settings.put("WARMPATH_SESSION_AFFINITY_TTL", "300s");
        }
        if (of.contains(PINS)) {
            settings.put("WARMPATH_SESSION_PINS_ENABLED", "true");
        }
        return settings;
    }

    /**
     * What an agent says beside its messages.
     *
     * @param agent its name
     * @param lead it lives on, so that what it has said is worth a pin; others end with their task,
     *     and their sessions with them
     * @param number of its turn, from 0
     * @param last no more of its turns will come
     */
    static GatewayClient.Extras turn(
            Set<AgentFeature> of, String agent, boolean lead, int number, boolean last) {
        GatewayClient.Extras none = GatewayClient.Extras.none();
        ObjectNode nvext = none.nvext();
        if (of.contains(PREFILL)) {
            nvext.withObject("agent_hints").put("speculative_prefill", true);
        }
        if (of.contains(PRIORITY)) {
            nvext.withObject("agent_hints").put("priority", IMPORTANT);
        }
        if (of.contains(SESSIONS) && !lead) {
            ObjectNode session = nvext.withObject("session_control").put("session_id", agent);
            if (number == 0) {
                session.put("action", "open");
            } else if (last) {
                session.put("action", "close");
            }
        }
        if (of.contains(PINS) && lead) {
            nvext.withObject("cache_control").put("type", "ephemeral").put("ttl", "5m");
        }
        return new GatewayClient.Extras(
                nvext, of.contains(AFFINITY) ? Map.of("X-Dynamo-Session-ID", agent) : Map.of());
    }
}
