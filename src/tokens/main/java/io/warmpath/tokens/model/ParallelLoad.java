package io.warmpath.tokens.model;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Loads several tokenizers at once; one that fails does not disturb the others. */
final class ParallelLoad {
    private ParallelLoad() {}

    /**
     * @param model null when it failed
     * @param problem why, as a sentence without its end; empty when it did not
     */
    record Result(@Nullable LoadedModel model, String problem) {}

    static Map<ModelSource, Result> all(Collection<ModelSource> sources, ModelLoader loader) {
        if (sources.isEmpty()) {
            return Map.of();
        }
        int threads = Math.min(sources.size(), Runtime.getRuntime().availableProcessors());
        Map<ModelSource, Result> results = new LinkedHashMap<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            Map<ModelSource, Future<LoadedModel>> pending = new LinkedHashMap<>();
            sources.forEach(source -> pending.put(source, pool.submit(() -> loader.load(source))));
            pending.forEach((source, load) -> results.put(source, result(source, load)));
        }
        return results;
    }

    private static Result result(ModelSource source, Future<LoadedModel> load) {
        try {
            return new Result(load.get(), "");
        } catch (ExecutionException e) {
            return new Result(
                    null,
                    e.getCause() instanceof TokenizerLoadException known
                            ? String.valueOf(known.getMessage())
                            : "the tokenizer of " + source + " cannot be loaded: " + e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            load.cancel(true);
            return new Result(null, "loading " + source + " was interrupted");
        }
    }
}
