package io.warmpath.wiring;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.ext.web.Router;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.net.server.ClientLimits;
import io.warmpath.net.server.ServerConnections;
import io.warmpath.telemetry.ClientMeters;
import io.warmpath.wiring.channel.RequestRecords;
import io.warmpath.wiring.control.Announcements;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Main of a gateway in a process of its own, to be killed: the whole runtime over plain Vert.x.
 * Settings are its arguments, as {@code key=value}; it says {@code port N} when it listens, and
 * ends with its input.
 */
final class GatewayChild {
    private GatewayChild() {}

    public static void main(String[] args) throws Exception {
        Map<String, String> settings = new HashMap<>();
        for (String arg : args) {
            int at = arg.indexOf('=');
            settings.put(arg.substring(0, at), arg.substring(at + 1));
        }
        ServerConnections.enable();
        Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        WarmpathConfig config = TestConfig.of(settings);
        loadClasses();
        ClientLimits limits = HttpServerSetup.limits(config.http().clients());
        ClientMeters.bind(meters, limits);
        ServerConnections.limit(limits);
        GatewayRuntime gateway =
                new GatewayRuntime(config, vertx, meters, Announcements.NONE, RequestRecords.NONE);
        Router router = Router.router(vertx);
        router.get("/test/metrics").handler(r -> r.response().end(text(meters)));
        gateway.routes().mount(router);
        AdminPartsRoute.mount(router, gateway);
        gateway.start();
        int port =
                vertx.createHttpServer(new HttpServerOptions().setHost("127.0.0.1").setPort(0))
                        .requestHandler(
                                request -> {
                                    request.pause(); // as Quarkus does
                                    router.handle(request);
                                })
                        .listen()
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get()
                        .actualPort();
        System.out.println("port " + port);
        while (System.in.read() >= 0) {
            // Until whoever started it has gone.
        }
        gateway.close();
        vertx.close().toCompletionStage().toCompletableFuture().get();
    }

    /**
     * Those of the product that lie in folders, as the ones of a packed product lie in jars that
     * are open: to load one later needs no file.
     */
    private static void loadClasses() throws IOException, ClassNotFoundException {
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            Path folder = Path.of(entry);
            if (!entry.endsWith("classes") || entry.endsWith("test-classes")) {
                continue;
            }
            List<Path> classes;
            try (Stream<Path> files = Files.walk(folder.resolve("io/warmpath"))) {
                classes = files.filter(f -> f.toString().endsWith(".class")).toList();
            }
            for (Path file : classes) {
                String name = folder.relativize(file).toString().replace('/', '.');
                if (!name.endsWith("-info.class")) {
                    Class.forName(
                            name.substring(0, name.length() - ".class".length()),
                            false,
                            GatewayChild.class.getClassLoader());
                }
            }
        }
    }

    /** A line for each counter and gauge: name, tags in braces where it has some, value. */
    private static String text(SimpleMeterRegistry meters) {
        StringBuilder out = new StringBuilder();
        for (Meter m : meters.getMeters()) {
            Meter.Type type = m.getId().getType();
            if (type == Meter.Type.COUNTER || type == Meter.Type.GAUGE) {
                String tags =
                        m.getId().getTags().stream()
                                .map(t -> t.getKey() + "=" + t.getValue())
                                .collect(Collectors.joining(","));
                out.append(m.getId().getName())
                        .append(tags.isEmpty() ? "" : "{" + tags + "}")
                        .append(' ')
                        .append(m.measure().iterator().next().getValue())
                        .append('\n');
            }
        }
        return out.toString();
    }
}
