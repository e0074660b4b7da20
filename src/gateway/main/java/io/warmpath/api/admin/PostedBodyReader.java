package io.warmpath.api.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.ext.MessageBodyReader;
import jakarta.ws.rs.ext.Provider;
import java.io.IOException;
import java.io.InputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads operators' JSON, whatever the request calls it, as {@code curl -d} calls it a form. Unlike
 * the runtime's own reader it knows a bound for each body, refuses members that it does not know,
 * and says what is wrong in the words of all other errors.
 */
@Provider
@Consumes(MediaType.WILDCARD)
public class PostedBodyReader implements MessageBodyReader<PostedBody> {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long TOGETHER_BYTES = 4L << 20;

    private final OperatorBodies bodies = new OperatorBodies(TOGETHER_BYTES);

    @Override
    public boolean isReadable(
            Class<?> type, Type generic, Annotation[] annotations, MediaType media) {
        return PostedBody.class.isAssignableFrom(type);
    }

    /** Null when there is no body. */
    @Override
    public @Nullable PostedBody readFrom(
            Class<PostedBody> type,
            Type generic,
            Annotation[] annotations,
            MediaType media,
            MultivaluedMap<String, String> headers,
            InputStream in)
            throws IOException {
        int limit = Objects.requireNonNull(type.getAnnotation(PostedBody.Limit.class)).bytes();
        return bodies.<Optional<PostedBody>>read(
                        in,
                        headers.getFirst("content-length"),
                        limit,
                        new GatewayError.BodyTooLarge(limit),
                        body -> Optional.ofNullable(read(body, type)))
                .orElse(null);
    }

    private static @Nullable PostedBody read(byte[] body, Class<PostedBody> type)
            throws IOException {
        try {
            return body.length == 0 ? null : JSON.readValue(body, type);
        } catch (UnrecognizedPropertyException e) {
            throw InvalidRequest.bad(
                    e.getPropertyName(),
                    "`"
                            + e.getPropertyName()
                            + "` is not known here; known are "
                            + e.getKnownPropertyIds().stream()
                                    .map(Object::toString)
                                    .collect(Collectors.toCollection(TreeSet::new))
                                    .stream()
                                    .collect(Collectors.joining(", "))
                            + ".");
        } catch (MismatchedInputException e) {
            throw e.getPath().isEmpty()
                    ? InvalidRequest.bad("", "The body must be a JSON object.")
                    : member(e.getPath().getFirst().getFieldName());
        } catch (JsonProcessingException e) {
            throw InvalidRequest.bad("", "The body is not JSON.");
        }
    }

    private static GatewayException member(@Nullable String name) {
        return InvalidRequest.bad(
                String.valueOf(name), "`" + name + "` has a value of another kind.");
    }
}
