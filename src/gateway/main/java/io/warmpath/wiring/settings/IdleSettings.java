package io.warmpath.wiring.settings;

import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.state.EventPlane;
import io.warmpath.routing.RouterMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jboss.logging.Logger;

/** What is set and does less in this set-up than its name says. Stateless. */
public final class IdleSettings {
    /** Of {@code warmpath.state.shared.threshold}; who has set it to that misses nothing. */
    private static final long THRESHOLD = 1_000_000;

    private static final Logger LOG = Logger.getLogger(IdleSettings.class);

    private IdleSettings() {}

    /** Once, at start; names kept for older configurations too, and what keys decide by the way. */
    public static void tell(WarmpathConfig config) {
        RouterSettings.deprecation(config.router()).ifPresent(LOG::warn);
        of(config).forEach(LOG::warn);
        CostSettings.taken(config).ifPresent(LOG::info);
    }

    /** In sentences, for the log of the start. */
    static List<String> of(WarmpathConfig config) {
        List<String> notes = new ArrayList<>(CostSettings.idle(config).stream().toList());
        boolean stream =
                RouterSettings.followsEvents(config) && config.events().plane() == EventPlane.NATS;
        boolean directory = config.state().directory().filter(d -> !d.isEmpty()).isPresent();
        if (!stream) {
            if (config.state().shared().reset() && !directory) {
                notes.add(
                        "--router-reset-states has nothing to reset: this gateway keeps no state over"
                                + " a restart. State is kept in NATS with --event-plane nats, and in a"
                                + " directory with --state-directory.");
            }
            if (config.state().shared().threshold() != THRESHOLD) {
                notes.add(
                        "--router-snapshot-threshold has no effect: it counts messages in NATS, and"
                                + " KV events go through NATS with --event-plane nats only. "
                                + (directory
                                        ? "Snapshots in --state-directory are written by time"
                                                + " (warmpath.state.interval)."
                                        : "This gateway writes no snapshots."));
            }
        }
        RouterMode mode = RouterSettings.mode(config.router());
        if (config.session().pins().enabled() && mode != RouterMode.KV) {
            notes.add(
                    "--enable-cache-control does half of its work with --router-mode "
                            + mode.name().toLowerCase(Locale.ROOT).replace('_', '-')
                            + ": workers are made to keep what clients pin, but this mode does not"
                            + " prefer them for what begins so. Set --router-mode kv.");
        }
        return notes;
    }
}
