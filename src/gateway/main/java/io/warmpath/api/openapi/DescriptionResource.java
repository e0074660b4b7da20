package io.warmpath.api.openapi;

import io.vertx.core.http.HttpServerRequest;
import io.warmpath.api.client.ClientResource;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * {@code /q/openapi}: the description of the API as the build has made it, for everybody. It is
 * read from the class path when somebody asks, on a worker thread: a gateway that nobody asks
 * spends neither time at its start nor memory on it.
 */
@Path("/q")
public class DescriptionResource implements ClientResource {
    /**
     * YAML unless the query or the header {@code Accept}, which REST itself does not see, names
     * JSON; the query goes before.
     */
    @GET
    @Path("openapi")
    public Response either(
            @QueryParam("format") @Nullable String format, @Context HttpServerRequest request) {
        String wanted = format == null ? request.getHeader(HttpHeaders.ACCEPT) : format;
        return wanted != null && wanted.toLowerCase(Locale.ROOT).contains("json") ? json() : yaml();
    }

    @GET
    @Path("openapi.json")
    public Response json() {
        return answer("json");
    }

    @GET
    @Path("openapi.yaml")
    public Response yaml() {
        return answer("yaml");
    }

    private static Response answer(String form) {
        try (InputStream file = DescriptionResource.class.getResourceAsStream("openapi." + form)) {
            if (file == null) {
                throw new IllegalStateException(
                        "the gateway was packed without openapi."
                                + form
                                + ", which its build makes");
            }
            return Response.ok(file.readAllBytes(), "application/" + form).build();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
