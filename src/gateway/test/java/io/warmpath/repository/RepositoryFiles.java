package io.warmpath.repository;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Files of the working tree, without what .gitignore leaves out. Paths are relative to the root.
 */
final class RepositoryFiles {
    static final Path ROOT = Path.of("").toAbsolutePath();

    private static final Set<String> NOT_OURS =
            Set.of(".git", "target", ".tools", ".idea", ".vscode", "__pycache__");

    private RepositoryFiles() {}

    static List<Path> all() {
        List<Path> found = new ArrayList<>();
        try {
            Files.walkFileTree(
                    ROOT,
                    new SimpleFileVisitor<>() {
                        @Override
                        public FileVisitResult preVisitDirectory(
                                Path dir, BasicFileAttributes attrs) {
                            return NOT_OURS.contains(dir.getFileName().toString())
                                    ? FileVisitResult.SKIP_SUBTREE
                                    : FileVisitResult.CONTINUE;
                        }

                        @Override
                        public FileVisitResult visitFile(Path file, BasicFileAttributes attrs) {
                            // A worktree's .git is a file.
                            if (!NOT_OURS.contains(file.getFileName().toString())) {
                                found.add(ROOT.relativize(file));
                            }
                            return FileVisitResult.CONTINUE;
                        }
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    /** Every byte as one char, so that binary files can be searched too. */
    static String bytes(Path file) {
        try {
            return Files.readString(ROOT.resolve(file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String text(String file) {
        try {
            return Files.readString(ROOT.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
