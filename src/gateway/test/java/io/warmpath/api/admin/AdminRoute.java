package io.warmpath.api.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.quarkus.resteasy.reactive.jackson.runtime.serialisers.BasicServerJacksonMessageBodyWriter;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import io.warmpath.net.VertxInternals;
import jakarta.enterprise.inject.Instance;
import jakarta.ws.rs.core.MediaType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.Function;
import org.jboss.jandex.DotName;
import org.jboss.jandex.Index;
import org.jboss.jandex.Indexer;
import org.jboss.resteasy.reactive.common.core.BlockingOperationSupport;
import org.jboss.resteasy.reactive.common.processor.scanning.ScannedSerializer;
import org.jboss.resteasy.reactive.server.processor.ResteasyReactiveDeploymentManager;
import org.jboss.resteasy.reactive.server.processor.ResteasyReactiveDeploymentManager.PreparedApplication;
import org.jboss.resteasy.reactive.server.processor.ResteasyReactiveDeploymentManager.ScanResult;
import org.jboss.resteasy.reactive.server.processor.ScannedApplication;
import org.jboss.resteasy.reactive.server.processor.scanning.AsyncReturnTypeScanner;
import org.jboss.resteasy.reactive.server.processor.scanning.FeatureScanner;
import org.jboss.resteasy.reactive.server.processor.scanning.ResponseStatusMethodScanner;
import org.jboss.resteasy.reactive.server.processor.util.GeneratedClass;
import org.jboss.resteasy.reactive.server.spi.DefaultRuntimeConfiguration;
import org.jboss.resteasy.reactive.server.vertx.ResteasyReactiveVertxHandler;
import org.jboss.resteasy.reactive.server.vertx.VertxRequestContextFactory;
import org.jboss.resteasy.reactive.spi.BeanFactory;

/**
 * The resources of {@code api.admin}, {@code api.client} and {@code api.console} on a plain Vert.x
 * router: what Quarkus does with them, without starting Quarkus. The same processor reads the
 * annotations, the same handlers answer.
 */
public final class AdminRoute {
    private static final Executor THREADS =
            Executors.newCachedThreadPool(
                    Thread.ofPlatform().name("rest-worker-", 0).daemon().factory());

    /** Blocking work goes on in the context of its request, as in Quarkus. */
    private static final Executor WORKERS =
            work -> {
                Context request = Vertx.currentContext();
                if (request == null) { // an answer of a thread of the gateway's own
                    THREADS.execute(work);
                    return;
                }
                THREADS.execute(
                        () -> {
                            Object before = VertxInternals.enter(request);
                            try {
                                work.run();
                            } finally {
                                VertxInternals.leave(request, before);
                            }
                        });
            };

    private static final Index INDEX = index();
    private static final Generated GENERATED = new Generated();

    private AdminRoute() {}

    /**
     * Behind all other routes.
     *
     * @param resources those that are asked for, and what their filter needs
     */
    public static void mount(Router router, AdminAccess access, Object... resources) {
        mount(
                router,
                type -> {
                    for (Object resource : resources) {
                        if (type.isInstance(resource)) {
                            return resource;
                        }
                    }
                    return type == AdminFilter.class
                            ? new AdminFilter(() -> access)
                            : type == ResourceErrors.class
                                    ? new ResourceErrors(() -> access)
                                    : null;
                });
    }

    /**
     * @param beans makes filters and resources; null for those without arguments
     */
    public static void mount(Router router, Function<Class<?>, Object> beans) {
        ScanResult scanned = scan(); // remembers the beans of those who prepare it
        GENERATED.define(scanned.getGeneratedClasses());
        PreparedApplication prepared =
                scanned.prepare(GENERATED, name -> () -> instance(bean(name, beans)));
        try {
            prepared.addScannedSerializers();
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
        prepared.addBuiltinSerializers();
        DefaultRuntimeConfiguration settings =
                new DefaultRuntimeConfiguration(
                        Duration.ofMinutes(1),
                        true,
                        System.getProperty("java.io.tmpdir"),
                        List.of(),
                        StandardCharsets.UTF_8,
                        OptionalLong.empty(),
                        2048,
                        100);
        router.route()
                .handler(
                        new ResteasyReactiveVertxHandler(
                                request -> {},
                                prepared.createApplication(
                                                settings, new VertxRequestContextFactory(), WORKERS)
                                        .getInitialHandler()));
    }

    private static Object bean(String name, Function<Class<?>, Object> beans) {
        try {
            Class<?> type = Class.forName(name, true, GENERATED);
            Object bean = beans.apply(type);
            return bean != null ? bean : type.getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The runtime's writer, with a mapper from nowhere. */
    public static final class Json extends BasicServerJacksonMessageBodyWriter {
        public Json() {
            super(always(new ObjectMapper()));
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> Instance<T> always(T bean) {
        return (Instance<T>)
                Proxy.newProxyInstance(
                        AdminRoute.class.getClassLoader(),
                        new Class<?>[] {Instance.class},
                        (proxy, method, arguments) -> {
                            if (!method.getName().equals("get")) {
                                throw new UnsupportedOperationException(method.getName());
                            }
                            return bean;
                        });
    }

    private static <T> BeanFactory.BeanInstance<T> instance(T bean) {
        return new BeanFactory.BeanInstance<>() {
            @Override
            public T getInstance() {
                return bean;
            }

            @Override
            public void close() {}
        };
    }

    private static ScanResult scan() {
        BlockingOperationSupport.setIoThreadDetector(() -> !Context.isOnEventLoopThread());
        return ResteasyReactiveDeploymentManager.start(INDEX)
                .addContextTypes(Set.of(DotName.createSimple(HttpServerRequest.class)))
                .addMethodScanner(new AsyncReturnTypeScanner())
                .addMethodScanner(new ResponseStatusMethodScanner())
                .addFeatureScanner(
                        (index, application) -> {
                            json(application);
                            return new FeatureScanner.FeatureScanResult(List.of());
                        })
                .scan();
    }

    private static void json(ScannedApplication application) {
        application
                .getSerializerScanningResult()
                .getWriters()
                .add(
                        new ScannedSerializer(
                                Json.class.getName(),
                                Object.class.getName(),
                                List.of(MediaType.APPLICATION_JSON)));
    }

    private static Index index() {
        Indexer indexer = new Indexer();
        try {
            for (String room : List.of("admin", "client", "console")) {
                Path classes = Path.of("target/gateway/classes/io/warmpath/api", room);
                try (DirectoryStream<Path> files = Files.newDirectoryStream(classes, "*.class")) {
                    for (Path file : files) {
                        try (InputStream in = Files.newInputStream(file)) {
                            indexer.index(in);
                        }
                    }
                }
            }
            return indexer.complete();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Has the classes that call the resources; they are the same each time. */
    private static final class Generated extends ClassLoader {
        private final Set<String> known = ConcurrentHashMap.newKeySet();

        Generated() {
            super(AdminRoute.class.getClassLoader());
        }

        void define(List<GeneratedClass> classes) {
            for (GeneratedClass c : classes) {
                if (known.add(c.getName())) {
                    defineClass(c.getName().replace('/', '.'), c.getData(), 0, c.getData().length);
                }
            }
        }
    }
}
