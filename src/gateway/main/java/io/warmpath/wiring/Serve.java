package io.warmpath.wiring;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.vertx.http.HttpServer;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.warmpath.config.LogFormat;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.TimeSpan;
import io.warmpath.config.source.CommandLine;
import io.warmpath.config.source.ConfigCheck;
import io.warmpath.config.source.ServeHelp;
import io.warmpath.config.source.UsageException;
import io.warmpath.config.state.EventPlane;
import io.warmpath.fleet.AdapterBases;
import io.warmpath.net.server.ServerConnections;
import io.warmpath.wiring.channel.ChannelSettings;
import io.warmpath.wiring.settings.ExitCode;
import io.warmpath.wiring.settings.StartFailure;
import io.warmpath.wiring.settings.WorkerSpecs;
import io.warmpath.wiring.tokens.ModelSettings;
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jboss.logging.Logger;

/**
 * The command {@code serve}: checks flags and configuration, then runs the gateway until a signal.
 * Everything that an operator can get wrong is found before the runtime starts, so that it is
 * answered with sentences and not with a stack trace.
 */
public final class Serve implements QuarkusApplication {
    private static final Logger LOG = Logger.getLogger(Serve.class);
    private static final String FILE_KEY = "warmpath.config-file";
    private static final String FILE_ENVIRONMENT = "WARMPATH_CONFIG_FILE";

    private final WarmpathConfig config;
    private final HttpServer server;

    @Inject
    Serve(WarmpathConfig config, HttpServer server) {
        this.config = config;
        this.server = server;
    }

    static int run(String[] args, PrintStream out, PrintStream err) {
        SettingCatalog catalog = SettingCatalog.read();
        List<String> list = List.of(args);
        Optional<String> topic = CommandLine.helpTopic(list);
        if (topic.isPresent()) {
            return help(catalog, topic.get(), out, err);
        }
        List<String> problems;
        try {
            Map<String, String> flags = new CommandLine(catalog).parse(list);
            flags.forEach(System::setProperty);
            problems = checked(catalog);
        } catch (UsageException e) {
            problems = List.of(e.getMessage());
        }
        if (!problems.isEmpty()) {
            problems.forEach(p -> err.println("warmpath serve: " + p));
            return ExitCode.USAGE;
        }
        Optional<String> tooFew = OpenFiles.now().tooFew();
        if (tooFew.isPresent()) {
            err.println("warmpath serve: " + tooFew.get());
            return ExitCode.FAILED;
        }
        ServerConnections.enable();
        int[] code = {0};
        Quarkus.run(
                Serve.class,
                (exit, failure) -> {
                    code[0] = exit;
                    if (failure != null) {
                        explain(failure, address(), err);
                    }
                },
                args);
        return code[0];
    }

    private static int help(
            SettingCatalog catalog, String topic, PrintStream out, PrintStream err) {
        int width = ServeHelp.width(Optional.ofNullable(System.getenv("COLUMNS")));
        try {
            out.print(ServeHelp.text(catalog, topic, width));
            return 0;
        } catch (UsageException e) {
            err.println("warmpath serve: " + e.getMessage());
            return ExitCode.USAGE;
        }
    }

    /**
     * A {@link StartFailure} and an address in use are said in a sentence; anything else is a bug
     * and shows its trace. {@code address}: that was to be listened on.
     */
    static void explain(Throwable failure, String address, PrintStream err) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (t instanceof IOException && String.valueOf(t.getMessage()).contains("bind")) {
                err.println(
                        ("warmpath serve: cannot listen on %s (%s); choose another address"
                                        + " with --http-host or another port with --http-port, or"
                                        + " stop what listens there.")
                                .formatted(address, t.getMessage()));
                return;
            }
            if (t instanceof StartFailure) {
                err.println("warmpath serve: " + t.getMessage());
                return;
            }
        }
        failure.printStackTrace(err);
    }

    private static String address() {
        SmallRyeConfig raw = sources().build();
        return raw.getOptionalValue("warmpath.http.host", String.class).orElse("0.0.0.0")
                + ":"
                + raw.getOptionalValue("warmpath.http.port", String.class).orElse("8000");
    }

    /** What is wrong with the configuration as it stands now, in sentences. */
    private static List<String> checked(SettingCatalog catalog) {
        String file = System.getProperty(FILE_KEY, System.getenv(FILE_ENVIRONMENT));
        if (file != null && !Files.isReadable(Path.of(file))) {
            return List.of("the file " + file + " (--config) cannot be read.");
        }
        SmallRyeConfig raw;
        try {
            raw = sources().build();
        } catch (IllegalArgumentException e) {
            return List.of(String.valueOf(e.getMessage()));
        }
        List<String> problems = ConfigCheck.problems(catalog, raw);
        if (!problems.isEmpty()) {
            return problems;
        }
        sizeEventLoops(raw);
        letProxiesLook(raw);
        enableControl(raw);
        enableChannels(raw);
        try {
            enableTls(raw);
        } catch (IllegalArgumentException e) {
            return List.of(String.valueOf(e.getMessage()));
        }
        return typedProblems(raw);
    }

    /** One event loop per core: each does its share of the streams, and none waits for another. */
    private static void sizeEventLoops(SmallRyeConfig raw) {
        int configured = raw.getOptionalValue("warmpath.http.event-loops", Integer.class).orElse(0);
        int loops = configured > 0 ? configured : Runtime.getRuntime().availableProcessors();
        System.setProperty("quarkus.vertx.event-loops-pool-size", Integer.toString(loops));
    }

    /**
     * Proxies find another way once they have seen that the picker stops; one that just ends is
     * noticed by requests that fail.
     */
    private static void letProxiesLook(SmallRyeConfig raw) {
        boolean picks =
                raw.getOptionalValue("warmpath.picker.port", Integer.class).orElse(0) > 0
                        || raw.getOptionalValue("warmpath.picker.only", Boolean.class)
                                .orElse(false);
        String delay = "warmpath.http.shutdown-delay";
        if (picks && raw.getOptionalValue(delay, String.class).isEmpty()) {
            System.setProperty(delay, "5s");
        }
    }

    /**
     * Messages between gateways: the channels are made only where there is a NATS to carry them.
     */
    private static void enableControl(SmallRyeConfig raw) {
        boolean nats =
                raw.getOptionalValue("warmpath.events.plane", EventPlane.class)
                                .orElse(EventPlane.ZMQ)
                        == EventPlane.NATS;
        System.setProperty("mp.messaging.incoming.control-in.enabled", Boolean.toString(nats));
        System.setProperty("mp.messaging.outgoing.control-out.enabled", Boolean.toString(nats));
    }

    /** Reactive messaging reads its own keys; what an operator has set of them stays. */
    private static void enableChannels(SmallRyeConfig raw) {
        for (String channel : List.of("usage", "decisions")) {
            raw.getOptionalValue("warmpath.channels." + channel, String.class)
                    .map(connector -> ChannelSettings.properties(channel, connector))
                    .ifPresent(all -> all.forEach(System::setProperty));
        }
    }

    private static SmallRyeConfigBuilder sources() {
        return new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .addSystemSources()
                .addDiscoveredSources();
    }

    /** The runtime reads its own keys, before anything of ours is there. */
    private static void enableTls(SmallRyeConfig raw) {
        String group = "warmpath.http.tls.";
        Map<String, String> tls =
                ServerTls.properties(
                        raw.getOptionalValue(group + "cert-file", String.class),
                        raw.getOptionalValue(group + "key-file", String.class),
                        raw.getOptionalValue(group + "client-ca-file", String.class),
                        raw.getOptionalValue("warmpath.auth.reload-interval", String.class)
                                .map(text -> new TimeSpan().convert(text))
                                .orElse(Duration.ofSeconds(2)));
        if (!tls.isEmpty()) {
            String port = raw.getOptionalValue("warmpath.http.port", String.class).orElse("8000");
            tls.forEach(System::setProperty);
            ServerTls.instead(port).forEach(System::setProperty);
        }
    }

    private static List<String> typedProblems(SmallRyeConfig raw) {
        try {
            // Mapping takes a tenth of a start; single values were checked without it.
            if (!hasEntries(raw)) {
                WorkerSpecs.of(
                        List.of(),
                        raw.getOptionalValues("warmpath.worker-urls", String.class)
                                .orElse(List.of()));
                return List.of();
            }
            // Another configuration: the one that is there would have no defaults of entries.
            WarmpathConfig config =
                    sources()
                            .withMapping(WarmpathConfig.class)
                            .build()
                            .getConfigMapping(WarmpathConfig.class);
            WorkerSpecs.of(config);
            ModelSettings.names(config, new AdapterBases());
            ModelSettings.sources(config);
            return List.of();
        } catch (IllegalArgumentException e) {
            return List.of(String.valueOf(e.getMessage()));
        }
    }

    /** Whether there is more than single values: workers or models by name. */
    private static boolean hasEntries(SmallRyeConfig raw) {
        for (String name : raw.getPropertyNames()) {
            if (name.startsWith("warmpath.workers[")
                    || name.startsWith("warmpath.workers.")
                    || name.startsWith("warmpath.models.")) {
                return true;
            }
        }
        return false;
    }

    /** The runtime is up: says so in one line and waits for the signal to stop. */
    @Override
    public int run(String... args) {
        int workers = config.workers().size() + config.workerUrls().map(List::size).orElse(0);
        String up =
                String.format(
                        Locale.ROOT,
                        "Warmpath %s listens on %s://%s:%d, router mode %s, %s",
                        Main.VERSION,
                        config.http().tls().certFile().isPresent() ? "https" : "http",
                        config.http().host(),
                        config.http().tls().certFile().isPresent()
                                ? server.getSecurePort()
                                : server.getPort(),
                        config.router().mode().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                        workers == 0 ? "no workers yet (POST /workers)" : workers + " worker(s)");
        if (config.telemetry().logFormat() == LogFormat.JSON) {
            LOG.info(up);
        } else {
            System.out.println(up);
        }
        ServiceManager.ready();
        Quarkus.waitForExit();
        return 0;
    }
}
