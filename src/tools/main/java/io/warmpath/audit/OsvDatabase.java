package io.warmpath.audit;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * Records of vulnerabilities (OSV, JSON): a file of one or of an array of them, a folder of such
 * files at any depth, or a zip of them as databases are handed out. Held one at a time.
 */
public final class OsvDatabase {
    /** Takes one record. */
    @FunctionalInterface
    public interface Reader {
        void take(JsonNode osv) throws AuditException;
    }

    private OsvDatabase() {}

    /**
     * @throws AuditException when a file cannot be read, has something else, or there is no record
     */
    public static void read(Path path, Reader to) throws AuditException {
        long records;
        try {
            if (Files.isDirectory(path)) {
                records = folder(path, to);
            } else if (path.toString().endsWith(".zip")) {
                records = zip(path, to);
            } else {
                records = document(path.toString(), Files.readAllBytes(path), to);
            }
        } catch (IOException e) {
            throw new AuditException("the database cannot be read: " + e);
        }
        if (records == 0) {
            throw new AuditException(path + ": the database has no record");
        }
    }

    private static long folder(Path folder, Reader to) throws IOException, AuditException {
        List<Path> files;
        try (Stream<Path> tree = Files.walk(folder)) {
            files = tree.filter(file -> file.toString().endsWith(".json")).sorted().toList();
        }
        long records = 0;
        for (Path file : files) {
            records += document(file.toString(), Files.readAllBytes(file), to);
        }
        return records;
    }

    private static long zip(Path file, Reader to) throws IOException, AuditException {
        long records = 0;
        try (InputStream in = Files.newInputStream(file);
                ZipInputStream zip = new ZipInputStream(in)) {
            for (ZipEntry e = zip.getNextEntry(); e != null; e = zip.getNextEntry()) {
                if (e.getName().endsWith(".json")) {
                    records += document(file + "!" + e.getName(), zip.readAllBytes(), to);
                }
            }
        }
        return records;
    }

    private static long document(String name, byte[] bytes, Reader to) throws AuditException {
        JsonNode document = JsonFile.parse(name, bytes);
        if (!document.isArray()) {
            one(name, document, to);
            return 1;
        }
        for (JsonNode element : document) {
            one(name, element, to);
        }
        return document.size();
    }

    private static void one(String name, JsonNode osv, Reader to) throws AuditException {
        JsonFile.text(name, osv, "id");
        JsonFile.text(name, osv, "modified");
        to.take(osv);
    }
}
