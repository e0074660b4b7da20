package io.warmpath.api.hints;

import static io.warmpath.api.error.InvalidRequest.bad;
import static io.warmpath.api.error.InvalidRequest.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.MultiMap;
import java.io.IOException;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The worker and the rank that a client names. A header wins over {@code nvext}; a rank in the
 * body's top level, which the engine reads itself, over {@code nvext}'s. The name of either half is
 * enough where one worker does both; two names are two halves. One per request, one thread.
 */
final class WorkerPin {
    private static final String[] WORKER = {"x-dynamo-worker-instance-id", "x-worker-instance-id"};
    private static final String[] PREFILL = {
        "x-dynamo-prefill-instance-id", "x-prefill-instance-id"
    };
    private static final String[] RANK = {"x-dynamo-dp-rank", "x-dp-rank", "x-data-parallel-rank"};
    private static final String[] PREFILL_RANK = {"x-dynamo-prefill-dp-rank", "x-prefill-dp-rank"};

    /** Says that there is none. */
    private static final long NO_RANK = 0xffff_ffffL;

    /** A value and the name that it was given under. */
    private record Named<T>(String name, T value) {}

    private @Nullable Named<Long> backend;
    private @Nullable Named<Long> decode;
    private @Nullable Named<Long> prefill;
    private @Nullable Named<Integer> bodyRank;
    private @Nullable Named<Integer> rank;
    private @Nullable Named<Integer> prefillRank;

    /** The body's own member. */
    void bodyRank(String name, OptionalLong given) {
        bodyRank = given.isEmpty() ? null : new Named<>(name, checkedRank(name, given.getAsLong()));
    }

    /**
     * A member of {@code nvext}, not null; the current token is its value.
     *
     * @return false when it is none of these
     */
    boolean read(String name, String at, JsonParser json) throws IOException {
        switch (name) {
            case "backend_instance_id" -> backend = new Named<>(at, worker(at, json));
            case "decode_worker_id" -> decode = new Named<>(at, worker(at, json));
            case "prefill_worker_id" -> prefill = new Named<>(at, worker(at, json));
            case "dp_rank" -> rank = new Named<>(at, rank(at, json));
            case "prefill_dp_rank" -> {
                long given = NvextValues.u32(at, json);
                prefillRank = given == NO_RANK ? null : new Named<>(at, checkedRank(at, given));
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    /**
     * To be called once, after the body was read.
     *
     * @throws io.warmpath.fault.GatewayException BadRequest when a header is wrong, or what is
     *     named contradicts itself
     */
    void readHeaders(MultiMap headers) {
        Named<String> given = first(headers, WORKER);
        if (given != null) {
            backend = new Named<>(given.name(), workerId(given.name(), given.value()));
            decode = null;
        }
        given = first(headers, PREFILL);
        if (given != null) {
            prefill = new Named<>(given.name(), workerId(given.name(), given.value()));
        }
        given = first(headers, RANK);
        if (given != null) {
            rank = new Named<>(given.name(), headerRank(given));
            notAnother(rank, bodyRank, "dp rank");
            bodyRank = null;
        }
        given = first(headers, PREFILL_RANK);
        if (given != null) {
            boolean none = given.value().equals(Long.toString(NO_RANK));
            prefillRank = none ? null : new Named<>(given.name(), headerRank(given));
        }
        notAnother(decode, backend, "worker");
        if (prefiller().isEmpty()) {
            notAnother(prefillRank, bodyRank != null ? bodyRank : rank, "dp rank");
        }
    }

    private static @Nullable Named<String> first(MultiMap headers, String[] names) {
        for (String name : names) {
            String value = headers.get(name);
            if (value != null) {
                return new Named<>(name, value.strip());
            }
        }
        return null;
    }

    private static <T> void notAnother(
            @Nullable Named<T> one, @Nullable Named<T> other, String what) {
        if (one != null && other != null && !Objects.equals(one.value(), other.value())) {
            throw bad(
                    one.name(),
                    "`"
                            + one.name()
                            + "` asks for "
                            + what
                            + " "
                            + shown(one.value())
                            + " and `"
                            + other.name()
                            + "` for "
                            + shown(other.value())
                            + "; a request goes to one. Give one of them.");
        }
    }

    private static String shown(Object value) {
        return value instanceof Long id ? Long.toUnsignedString(id) : value.toString();
    }

    OptionalLong worker() {
        Named<Long> id = backend != null ? backend : decode != null ? decode : prefill;
        return id == null ? OptionalLong.empty() : OptionalLong.of(id.value());
    }

    /** Another one that computes the prompt for {@link #worker}. */
    OptionalLong prefiller() {
        Named<Long> answers = backend != null ? backend : decode;
        return prefill == null || answers == null || prefill.value().equals(answers.value())
                ? OptionalLong.empty()
                : OptionalLong.of(prefill.value());
    }

    OptionalInt rank() {
        Named<Integer> one = bodyRank != null ? bodyRank : rank;
        if (one == null && prefiller().isEmpty()) {
            one = prefillRank;
        }
        return one == null ? OptionalInt.empty() : OptionalInt.of(one.value());
    }

    private static long worker(String at, JsonParser json) throws IOException {
        if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
            throw bad(at, "`" + at + "` must be an integer" + but(json.currentToken()));
        }
        return workerId(at, json.getText());
    }

    private static long workerId(String name, String digits) {
        try {
            return Long.parseUnsignedLong(digits);
        } catch (NumberFormatException e) {
            throw bad(name, "`" + name + "` must be an integer in 0..18446744073709551615.");
        }
    }

    private static int rank(String at, JsonParser json) throws IOException {
        if (json.currentToken() != JsonToken.VALUE_NUMBER_INT
                || json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
            throw bad(at, "`" + at + "` must be an integer" + but(json.currentToken()));
        }
        return checkedRank(at, json.getLongValue());
    }

    private static int headerRank(Named<String> header) {
        try {
            return checkedRank(header.name(), Long.parseLong(header.value()));
        } catch (NumberFormatException e) {
            throw bad(header.name(), "The header `" + header.name() + "` must be an integer.");
        }
    }

    private static int checkedRank(String name, long rank) {
        if (rank < 0 || rank > Integer.MAX_VALUE) {
            throw bad(name, "`" + name + "` must be an integer of 0 or more.");
        }
        return (int) rank;
    }
}
