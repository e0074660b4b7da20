package io.warmpath.api.console;

import io.vertx.core.http.HttpServerRequest;
import io.warmpath.api.admin.AdminAccess;
import io.warmpath.api.client.ClientResource;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The files of the console, for everybody: there is nothing of the fleet in them. What they ask for
 * goes through the operators' endpoints, which let in who may. Read when they are asked for, on a
 * worker thread. The page runs scripts and styles of this gateway alone, asks this gateway alone,
 * and is shown in no other page.
 */
@Path("/")
public class ConsoleResource implements ClientResource {
    /** No dot or slash but these: a name leads nowhere else. */
    private static final Pattern FILE =
            Pattern.compile(
                    "(?:vendor/[a-z-]+/(?:[a-z]+/)?)?[A-Za-z-]+(?:\\.iife)?(?:\\.min)?\\.([a-z]+)");

    private static final Map<String, String> TYPES =
            Map.of(
                    "html", "text/html; charset=utf-8",
                    "css", "text/css; charset=utf-8",
                    "js", "text/javascript; charset=utf-8",
                    "svg", "image/svg+xml");

    private static final String POLICY =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src"
                    + " 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private static final String START = "index.html";
    private static final String NO_PAGE = "content=\"\"";

    private final AdminAccess access;

    public ConsoleResource(AdminAccess access) {
        this.access = access;
    }

    /** Browsers go to the console; others are told that nothing is here. */
    @GET
    public Response root(@Context HttpServerRequest request) {
        String accept = request.getHeader(HttpHeaders.ACCEPT); // REST itself does not see it
        if (accept == null || !accept.toLowerCase(Locale.ROOT).contains("text/html")) {
            throw new NotFoundException();
        }
        return to("console/");
    }

    @GET
    @Path("console")
    public Response page(
            @Context HttpServerRequest request,
            @HeaderParam(HttpHeaders.IF_NONE_MATCH) @Nullable String known) {
        return request.path().endsWith("/") ? file(request, START, known) : to("console/");
    }

    @GET
    @Path("console/{file: .+}")
    public Response file(
            @Context HttpServerRequest request,
            @PathParam("file") String name,
            @HeaderParam(HttpHeaders.IF_NONE_MATCH) @Nullable String known) {
        Matcher form = FILE.matcher(name);
        String type = form.matches() ? TYPES.get(form.group(1)) : null;
        byte[] content = type == null ? null : read(name);
        if (content == null || type == null) {
            throw new NotFoundException();
        }
        return kept(request, name, content, type, known)
                .header("Content-Security-Policy", POLICY)
                .header("Referrer-Policy", "same-origin") // AdminAccess looks at it
                .header("X-Content-Type-Options", "nosniff")
                .build();
    }

    private Response.ResponseBuilder kept(
            HttpServerRequest request,
            String name,
            byte[] content,
            String type,
            @Nullable String known) {
        if (name.equals(START)) {
            return Response.ok(started(request, content), type)
                    .header(HttpHeaders.CACHE_CONTROL, "no-store");
        }
        String tag = tag(content);
        return (tag.equals(known) ? Response.notModified() : Response.ok(content, type))
                .header(HttpHeaders.ETAG, tag)
                .header(HttpHeaders.CACHE_CONTROL, "no-cache");
    }

    /** With what shows, later, that this page asks. */
    private byte[] started(HttpServerRequest request, byte[] content) {
        String page = "content=\"" + access.page(request) + '"';
        return new String(content, StandardCharsets.UTF_8)
                .replace(NO_PAGE, page)
                .getBytes(StandardCharsets.UTF_8);
    }

    /** Relative: a proxy may have put all of it below a path of its own. */
    private static Response to(String place) {
        return Response.status(Response.Status.TEMPORARY_REDIRECT)
                .header(HttpHeaders.LOCATION, place)
                .build();
    }

    private static byte @Nullable [] read(String name) {
        try (InputStream file = ConsoleResource.class.getResourceAsStream(name)) {
            return file == null ? null : file.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String tag(byte[] content) {
        CRC32C sum = new CRC32C();
        sum.update(content);
        return '"' + HexFormat.of().toHexDigits((int) sum.getValue()) + '"';
    }
}
