package io.warmpath.api;

import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.CorsHandler;
import io.warmpath.access.PageRules;
import io.warmpath.api.request.InferencePath;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Lets pages of other origins call clients' endpoints (CORS). What a browser sends names its
 * origin, and goes through the server's codec for it; operators' endpoints have no such route.
 *
 * @param origins {@code *} alone for all
 * @param headers that may be sent; empty: whichever are asked for
 * @param exposed headers that a page may read
 * @param credentials cookies and certificates may come along
 */
public record CrossOrigin(
        List<String> origins,
        List<String> headers,
        List<String> exposed,
        boolean credentials,
        Duration maxAge) {
    private static final Set<HttpMethod> METHODS =
            Set.of(HttpMethod.GET, HttpMethod.POST, HttpMethod.OPTIONS);

    /** Of clients, beside those of {@link InferencePath#ALL}. */
    private static final List<String> OTHERS =
            List.of(
                    "/v1/models",
                    "/v1/models/*",
                    "/v1/messages",
                    "/v1/messages/*",
                    "/tokenize",
                    "/detokenize");

    PageRules rules() {
        return new PageRules(origins);
    }

    /** Behind the first look at each request, and before all that answers one. */
    void mount(Router router) {
        PageRules rules = rules();
        CorsHandler handler =
                CorsHandler.create()
                        .allowedMethods(METHODS)
                        .exposedHeaders(new LinkedHashSet<>(exposed))
                        .allowCredentials(credentials)
                        .maxAgeSeconds((int) maxAge.toSeconds())
                        .addOrigins(origins);
        if (!headers.isEmpty()) {
            handler.allowedHeaders(new LinkedHashSet<>(headers));
        }
        Stream.concat(InferencePath.ALL.stream().map(InferencePath::path), OTHERS.stream())
                .forEach(
                        path ->
                                router.route(path)
                                        .order(Routes.FIRST - 1)
                                        .handler(rc -> handle(rc, rules, handler)));
    }

    /** The gateway's own pages need no permission; others are refused where they ask. */
    private static void handle(RoutingContext rc, PageRules rules, CorsHandler handler) {
        String origin = rc.request().getHeader("origin");
        if (origin == null || rules.lists(origin)) {
            handler.handle(rc);
        } else {
            rc.next();
        }
    }
}
