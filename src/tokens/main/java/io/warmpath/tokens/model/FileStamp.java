package io.warmpath.tokens.model;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The files of a model with their sizes and times: equal as long as none of them changes. Links are
 * followed, so that a mounted directory that is swapped as a whole is seen.
 */
record FileStamp(Map<Path, String> files) {
    static final FileStamp NONE = new FileStamp(Map.of());

    static FileStamp of(ModelSource source) {
        Map<Path, String> files = new TreeMap<>();
        add(source.path(), files);
        add(source.tokenizer(), files);
        add(source.chatTemplate(), files);
        return new FileStamp(files);
    }

    private static void add(@Nullable Path path, Map<Path, String> files) {
        if (path == null) {
            return;
        }
        Path directory = Files.isDirectory(path) ? path : path.getParent();
        put(path, files);
        all(directory, files);
        all(directory == null ? null : directory.resolve("additional_chat_templates"), files);
    }

    private static void all(@Nullable Path directory, Map<Path, String> files) {
        if (directory == null || !Files.isDirectory(directory)) {
            return;
        }
        try (DirectoryStream<Path> list =
                Files.newDirectoryStream(directory, "*.{json,jinja,model}")) {
            list.forEach(file -> put(file, files));
        } catch (IOException e) {
            files.put(directory, "cannot be listed");
        }
    }

    private static void put(Path file, Map<Path, String> files) {
        try {
            BasicFileAttributes is = Files.readAttributes(file, BasicFileAttributes.class);
            if (is.isRegularFile()) {
                files.put(file, is.size() + " bytes of " + is.lastModifiedTime());
            }
        } catch (IOException e) {
            files.put(file, "not there");
        }
    }
}
