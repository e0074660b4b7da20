package io.warmpath.config.state;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import io.warmpath.session.AffinityOptions;
import java.time.Duration;
import java.util.Optional;

/** Sessions: which worker their requests go to. Part of {@link WarmpathConfig}. */
public interface SessionConfig {
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "Bind sessions to the rank that their first request was sent to, for as long as"
                            + " the time between two of their requests is below this. Unset: sessions"
                            + " are not bound. A session is named by the header X-Dynamo-Session-ID, or"
                            + " by what Claude Code, Codex and OpenCode send.",
            flags = "--router-session-affinity-ttl-secs",
            env = "DYN_ROUTER_SESSION_AFFINITY_TTL_SECS",
            minTime = "1s",
            maxTime = "365d")
    Optional<Duration> affinityTtl();

    @WithDefault("hard")
    @Setting(
            doc =
                    "`hard`: a bound session's requests wait for their rank. `soft`: while it is busy"
                            + " they go elsewhere, and come back.",
            flags = "--router-session-affinity-mode",
            env = "DYN_ROUTER_SESSION_AFFINITY_MODE")
    AffinityOptions.Mode affinityMode();

    @WithDefault("cost")
    @Setting(
            doc =
                    "Where a session's first request goes. `cost`: as any other request. `rendezvous`:"
                            + " to the rank that its id hashes to, so that several gateways agree"
                            + " without talking.")
    AffinityOptions.Placement placement();

    @WithDefault("100000")
    @Setting(
            doc =
                    "Most sessions that are bound at once; further ones are routed as if they had none.",
            unit = "sessions",
            min = 1,
            max = 100_000_000)
    int max();

    SessionControlConfig control();

    Prefill prefill();

    PinConfig pins();

    /** Prompts of next turns that are computed before they come. */
    interface Prefill {
        @WithDefault("2")
        @Setting(
                doc =
                        "Next turns that a worker is warmed for at once, where clients ask for it"
                                + " (`nvext.agent_hints.speculative_prefill`); 0: never.",
                unit = "prompts per worker",
                min = 0,
                max = 1000)
        int concurrency();

        @WithDefault("20000")
        @Setting(
                doc =
                        "New tokens that next turns may cost a worker; beyond it they are not warmed.",
                unit = "tokens/s per worker",
                min = 1,
                max = 1_000_000_000)
        int tokensPerSecond();

        @WithDefault("8192")
        @Setting(
                doc =
                        "While a rank has more prompt tokens of requests to compute than this, it is"
                                + " not warmed for next turns.",
                unit = "tokens",
                min = 0,
                max = 1_000_000_000)
        int maxBacklog();
    }
}
