package io.warmpath.api.picker;

import io.vertx.core.MultiMap;
import io.warmpath.api.client.ClientGate;
import io.warmpath.api.extproc.ProcessingRequest;
import io.warmpath.api.request.InferencePath;
import io.warmpath.fleet.EngineAddress;
import io.warmpath.gateway.request.Prefiller;
import io.warmpath.net.HeaderList;
import io.warmpath.upstream.UpstreamRequest;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The head of a client's request as the proxy tells of it, and what becomes of it on its way to the
 * engine. On the request's event loop.
 */
final class RequestHead {
    /** What clients may not say: where a request goes is said here. */
    private static final List<String> FORGED =
            List.of(
                    ProcessingRequest.DESTINATION + "-served",
                    ProcessingRequest.DESTINATION + "-subset",
                    Prefiller.HEADER,
                    "x-data-parallel-rank");

    private final HeaderList headers = new HeaderList();
    private final List<String> shown;
    private String method = "";
    private String target = "";

    RequestHead(HeaderList told) {
        for (int i = 0; i < told.size(); i++) {
            String name = told.name(i);
            switch (name) {
                case ":method" -> method = told.value(i);
                case ":path" -> target = told.value(i);
                default -> {
                    if (!name.startsWith(":")) {
                        headers.add(name, told.value(i));
                    }
                }
            }
        }
        shown = ClientGate.SHOWN.stream().filter(headers::contains).toList();
    }

    boolean isPost() {
        return method.equals("POST");
    }

    /** Without the query. */
    String path() {
        int mark = target.indexOf('?');
        return mark < 0 ? target : target.substring(0, mark);
    }

    /** Without its question mark; null: none. */
    @Nullable String query() {
        int mark = target.indexOf('?');
        return mark < 0 ? null : target.substring(mark + 1);
    }

    /** May be taken from and added to. */
    HeaderList headers() {
        return headers;
    }

    /** An engine may take it for inference, whose body would have to be read here. */
    boolean isDisguised() {
        String path = path();
        if (path.indexOf('%') < 0 && !path.contains("//") && !path.contains("/.")) {
            return false;
        }
        try {
            // One slash in front: two would begin the name of a host.
            String plain = new URI("/" + path.replaceAll("^/+", "")).getPath();
            String resolved = new URI(null, null, plain, null).normalize().getPath();
            return InferencePath.find(resolved.replaceAll("/{2,}", "/")) != null;
        } catch (URISyntaxException e) {
            return true;
        }
    }

    /** Headers that the proxy is to set, for the engine that was chosen. */
    HeaderList set(UpstreamRequest chosen) {
        HeaderList set = new HeaderList();
        chosen.extra().forEach((name, value) -> set.set(name, value));
        String asked = EngineAddress.of(chosen.base()).path() + chosen.target();
        if (!asked.equals(target)) {
            set.set(":path", asked);
        }
        return set;
    }

    /**
     * Headers that the proxy is to take out: forged ones, and those that were shown here alone.
     *
     * @param added by the gateway
     */
    List<String> removed(MultiMap added) {
        return Stream.concat(
                        FORGED.stream().filter(headers::contains),
                        shown.stream().filter(name -> !headers.contains(name)))
                .filter(name -> !added.contains(name))
                .toList();
    }
}
