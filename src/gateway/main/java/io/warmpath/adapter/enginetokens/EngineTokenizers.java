package io.warmpath.adapter.enginetokens;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.probe.EngineHttp;
import io.warmpath.fleet.probe.EngineTokenizer;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * {@code POST /tokenize} of vLLM and SGLang. Answers are remembered for a while, for all workers of
 * a kind. Any thread; blocks as its HTTP does.
 */
public final class EngineTokenizers implements EngineTokenizer {
    private static final String PATH = "/tokenize";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration KEPT = Duration.ofMinutes(5);

    /** No such route, no such method, not made. */
    private static final Set<Integer> ABSENT = Set.of(404, 405, 501);

    private final EngineHttp http;
    private final AnswerCache cache;
    private final LongSupplier nanoTime;
    private final LongAdder remembered = new LongAdder();

    /**
     * @param cacheBytes memory for answers; 0: none is remembered
     * @param nanoTime as {@link System#nanoTime}
     */
    public EngineTokenizers(EngineHttp http, long cacheBytes, LongSupplier nanoTime) {
        this.http = http;
        this.cache = new AnswerCache(cacheBytes, KEPT.toNanos());
        this.nanoTime = nanoTime;
    }

    @Override
    public Optional<int[]> tokens(Worker worker, Question question) throws IOException {
        Optional<String> body =
                TokenizeQuestion.of(
                        worker.kind(), question.model(), JSON.readTree(question.request()));
        if (body.isEmpty()) {
            return Optional.empty();
        }
        AnswerCache.Key key = AnswerCache.Key.of(worker.kind().name(), body.get());
        int[] known = cache.get(key, nanoTime.getAsLong());
        if (known != null) {
            remembered.increment();
            return Optional.of(known);
        }
        EngineHttp.Answer answer =
                http.post(worker.url(), PATH, body.get(), question.authorization());
        if (answer.status() == 400 || answer.status() == 422) {
            return Optional.empty(); // the prompt is at fault, or the engine takes no messages
        }
        if (ABSENT.contains(answer.status())) {
            throw new Absent("POST " + PATH + " answered " + answer.status());
        }
        if (!answer.ok()) {
            throw new IOException("POST " + PATH + " answered " + answer.status());
        }
        int[] ids = ids(answer.body());
        cache.put(key, ids, nanoTime.getAsLong());
        return Optional.of(ids);
    }

    /** Questions that needed no engine. */
    public long remembered() {
        return remembered.sum();
    }

    /** Memory of the answers, about. */
    public long cacheBytes() {
        return cache.bytes();
    }

    private static int[] ids(String body) throws IOException {
        JsonNode tokens;
        try {
            tokens = JSON.readTree(body).path("tokens");
        } catch (JsonProcessingException e) {
            throw new IOException("POST " + PATH + " answered something that is not JSON", e);
        }
        int[] ids = new int[tokens.size()];
        for (int i = 0; i < ids.length; i++) {
            JsonNode id = tokens.path(i);
            if (!id.isIntegralNumber() || id.longValue() < 0 || id.longValue() > 0xffff_ffffL) {
                throw new IOException("POST " + PATH + " answered without a list of token ids");
            }
            ids[i] = (int) id.longValue();
        }
        if (ids.length == 0) {
            throw new IOException("POST " + PATH + " answered without tokens");
        }
        return ids;
    }
}
