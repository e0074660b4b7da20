package io.warmpath.tokens;

import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Loads several tokenizers at once: all of them or none. */
final class ParallelLoad {
    private ParallelLoad() {}

    static Map<Path, LoadedModel> all(Collection<Path> files, ModelLoader loader)
            throws TokenizerLoadException {
        if (files.isEmpty()) {
            return Map.of();
        }
        int threads = Math.min(files.size(), Runtime.getRuntime().availableProcessors());
        Map<Path, LoadedModel> loaded = new HashMap<>();
        @Nullable TokenizerLoadException failure = null;
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            Map<Path, Future<LoadedModel>> pending = new LinkedHashMap<>();
            files.forEach(file -> pending.put(file, pool.submit(() -> loader.load(file))));
            for (Map.Entry<Path, Future<LoadedModel>> one : pending.entrySet()) {
                try {
                    loaded.put(one.getKey(), one.getValue().get());
                } catch (ExecutionException e) {
                    failure = with(failure, cause(one.getKey(), e));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    pool.shutdownNow();
                    failure =
                            with(
                                    failure,
                                    new TokenizerLoadException(
                                            "interrupted while loading " + one.getKey(), e));
                }
            }
        }
        if (failure != null) {
            loaded.values().forEach(model -> model.tokenizer().close());
            throw failure;
        }
        return loaded;
    }

    private static TokenizerLoadException cause(Path file, ExecutionException e) {
        return e.getCause() instanceof TokenizerLoadException known
                ? known
                : new TokenizerLoadException("cannot load the tokenizer " + file, e.getCause());
    }

    private static TokenizerLoadException with(
            @Nullable TokenizerLoadException first, TokenizerLoadException next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }
}
