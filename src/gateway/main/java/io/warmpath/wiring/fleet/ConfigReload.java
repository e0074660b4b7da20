package io.warmpath.wiring.fleet;

import io.smallrye.config.SmallRyeConfigBuilder;
import io.vertx.core.Vertx;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.source.ConfigCheck;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.source.FleetSource;
import io.warmpath.fleet.source.SourceName;
import io.warmpath.net.FileShortage;
import io.warmpath.wiring.settings.WorkerSpecs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The workers of the configuration, read again when its file changes: by content, so that it does
 * not matter how the file is replaced. All of its workers or none: a file with a mistake, an empty
 * one or one that is gone changes nothing, and is said once. Other settings need a restart.
 */
final class ConfigReload implements FleetSource {
    private static final Logger LOG = Logger.getLogger(ConfigReload.class);

    private final Vertx vertx;
    private final Path file;
    private final Supplier<List<WorkerSpec>> read;
    private final Duration interval;
    private byte[] known = {}; // the last content that was looked at
    private String said = "";
    private volatile long timer = -1;
    private volatile boolean closed;

    /**
     * @param read the configuration's workers as they are now
     * @param interval between two looks
     */
    ConfigReload(Vertx vertx, Path file, Supplier<List<WorkerSpec>> read, Duration interval) {
        this.vertx = vertx;
        this.file = file;
        this.read = read;
        this.interval = interval;
    }

    /**
     * The workers of this process's configuration, read from its sources anew.
     *
     * @throws IllegalArgumentException saying what is wrong
     */
    static List<WorkerSpec> workers() {
        List<String> problems = ConfigCheck.problems(SettingCatalog.read(), sources().build());
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join(" ", problems));
        }
        return WorkerSpecs.of(
                sources()
                        .withMapping(WarmpathConfig.class)
                        .build()
                        .getConfigMapping(WarmpathConfig.class));
    }

    private static SmallRyeConfigBuilder sources() {
        return new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .addSystemSources()
                .addDiscoveredSources();
    }

    /** By URL, as a source's keys. */
    static Map<String, WorkerSpec> byUrl(List<WorkerSpec> specs) {
        Map<String, WorkerSpec> byUrl = new LinkedHashMap<>();
        specs.forEach(spec -> byUrl.put(spec.url().toString(), spec));
        return byUrl;
    }

    @Override
    public SourceName name() {
        return SourceName.CONFIG;
    }

    @Override
    public void start(Feed feed) {
        schedule(feed);
    }

    private void schedule(Feed feed) {
        if (!closed) {
            timer = vertx.setTimer(interval.toMillis(), id -> turn(feed));
        }
    }

    private void turn(Feed feed) {
        vertx.<Void>executeBlocking(
                        () -> {
                            look(feed);
                            return null;
                        },
                        false)
                .onFailure(e -> LOG.error("The configuration could not be looked at", e))
                .onComplete(done -> schedule(feed));
    }

    /** One look at the file; never two at a time. */
    void look(Feed feed) {
        byte @Nullable [] now = null;
        try {
            now = Files.readAllBytes(file);
            if (!Arrays.equals(now, known)) {
                takeUp(now, feed);
                known = now;
                said = "";
            }
        } catch (IOException | RuntimeException e) {
            if (FileShortage.OF_PROCESS.explains(e)) {
                warn(file + " is looked at again later: no more files may be open (ulimit -n)");
                return;
            }
            known = now == null ? known : now;
            String why = e instanceof IOException ? "it cannot be read" : e.getMessage();
            warn(file + " has changed and is not taken up: " + why);
        }
    }

    private void takeUp(byte[] now, Feed feed) {
        if (new String(now, StandardCharsets.UTF_8).isBlank()) {
            throw new IllegalArgumentException("it is empty");
        }
        Map<String, WorkerSpec> workers = byUrl(read.get());
        feed.replace(workers);
        if (known.length > 0) {
            LOG.infof(
                    "%s has changed: its %d worker(s) were taken up; other settings need a restart",
                    file, workers.size());
        }
    }

    /** Once, until it is something else. */
    private void warn(String problem) {
        if (!problem.equals(said)) {
            said = problem;
            LOG.warn(problem);
        }
    }

    @Override
    public void close() {
        closed = true;
        vertx.cancelTimer(timer);
    }
}
