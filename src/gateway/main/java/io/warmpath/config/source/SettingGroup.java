package io.warmpath.config.source;

import io.warmpath.config.setting.SettingKey;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** What keys are about, for help: each key belongs to one, by the word behind {@code warmpath.}. */
enum SettingGroup {
    WORKERS("engines by their addresses, and what each of them is", "worker-urls", "workers"),
    DISCOVERY(
            "workers from Kubernetes and NATS, their health checks, where they may be",
            "fleet",
            "kubernetes",
            "addresses"),
    MODELS("names, aliases, adapters, templates", "models"),
    TOKENS("tokenizers, and what asking for tokens may take", "tokens"),
    ROUTER(
            "how a worker is chosen: mode, cost, weights, speeds; prefill and decode apart",
            "router",
            "routing",
            "disaggregation"),
    EVENTS("KV events, the index, what is kept over a restart", "events", "index", "state"),
    SHARED("pools of KV blocks that workers share", "shared-cache"),
    SESSION("sessions, pinned prefixes, prompts that are computed ahead", "session"),
    ADMISSION("when a request may start: queue, classes, busy workers", "admission"),
    HEALTH("engines that fail or are slow: pauses, trials, slow starts", "health"),
    RETRY("other workers for a request, hedging, streams that move", "retry", "migration"),
    UPSTREAM("connections to engines, and their time-outs", "upstream"),
    HTTP("where clients are listened to: port, limits, TLS, stopping", "http"),
    PICKER("proxies that send requests themselves, and ask where to", "picker"),
    AUTH("keys of clients and engines, tokens, operators", "auth", "admin"),
    REPLICA("NATS, and several gateways before the same workers", "nats", "replica"),
    TELEMETRY(
            "log, traces, explanations, records of requests",
            "telemetry",
            "log-level",
            "explain",
            "channels"),
    PROCESS("settings file, memory, warm-up", "config-file", "memory", "warmup");

    private final String about;

    /** Each with a blank before and behind. */
    private final String words;

    SettingGroup(String about, String... words) {
        this.about = about;
        this.words = " " + String.join(" ", words) + " ";
    }

    /** As people name it. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    String about() {
        return about;
    }

    boolean has(SettingKey key) {
        return words.contains(" " + key.name().split("[.\\[]", -1)[1] + " ");
    }

    static List<String> all() {
        return Arrays.stream(values()).map(SettingGroup::word).toList();
    }
}
