package io.warmpath.tokens.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Folders of this machine in which a model may lie that somebody else names: an absolute path, or a
 * model of a hub in the hub's cache ({@code models--ORG--NAME/snapshots/COMMIT}). Immutable; any
 * thread, looks at the disk.
 */
public final class ModelFolders {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,95}");
    private static final Pattern COMMIT = Pattern.compile("[0-9a-f]{40}");
    private static final int MAX_REF_BYTES = 64;

    private final List<Path> caches;

    /** {@code caches}: of hubs, the first in which a model is counts. */
    public ModelFolders(List<Path> caches) {
        this.caches = List.copyOf(caches);
    }

    /**
     * With the caches that Hugging Face's library would use here. {@code env}: as of this process.
     */
    public static ModelFolders of(Map<String, String> env, String home) {
        List<Path> caches = new ArrayList<>();
        add(caches, env.getOrDefault("HF_HUB_CACHE", ""), "");
        add(caches, env.getOrDefault("HUGGINGFACE_HUB_CACHE", ""), "");
        add(caches, env.getOrDefault("HF_HOME", ""), "hub");
        add(caches, env.getOrDefault("XDG_CACHE_HOME", ""), "huggingface/hub");
        add(caches, home, ".cache/huggingface/hub");
        return new ModelFolders(caches);
    }

    private static void add(List<Path> to, String base, String below) {
        if (!base.isEmpty()) {
            to.add(Path.of(base).resolve(below));
        }
    }

    /**
     * @param where an absolute path, or {@code NAME} or {@code ORG/NAME} of a hub
     * @param revision branch or commit of a hub's model; empty: {@code main}
     * @return a folder with a {@code tokenizer.json} that can be read; empty when there is none
     */
    public Optional<Path> find(String where, String revision) {
        try {
            Path path = Path.of(where);
            if (path.isAbsolute()) {
                return Optional.of(path.normalize()).filter(ModelFolders::hasTokenizer);
            }
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
        String[] parts = where.split("/", -1);
        if (parts.length > 2 || !(revision.isEmpty() || isName(revision))) {
            return Optional.empty();
        }
        for (String part : parts) {
            if (!isName(part)) {
                return Optional.empty();
            }
        }
        return caches.stream()
                .map(cache -> cache.resolve("models--" + String.join("--", parts)))
                .flatMap(model -> snapshot(model, revision.isEmpty() ? "main" : revision).stream())
                .filter(ModelFolders::hasTokenizer)
                .findFirst();
    }

    private static boolean isName(String part) {
        return NAME.matcher(part).matches() && !part.contains("..");
    }

    private static Optional<Path> snapshot(Path model, String revision) {
        String commit = revision;
        if (!COMMIT.matcher(revision).matches()) {
            Path ref = model.resolve("refs").resolve(revision);
            try {
                if (!Files.isRegularFile(ref) || Files.size(ref) > MAX_REF_BYTES) {
                    return Optional.empty();
                }
                commit = Files.readString(ref).strip();
            } catch (IOException e) {
                return Optional.empty(); // as if it were not there: it cannot be read
            }
        }
        return COMMIT.matcher(commit).matches()
                ? Optional.of(model.resolve("snapshots").resolve(commit))
                : Optional.empty();
    }

    private static boolean hasTokenizer(Path folder) {
        Path file = folder.resolve("tokenizer.json");
        return Files.isRegularFile(file) && Files.isReadable(file);
    }
}
