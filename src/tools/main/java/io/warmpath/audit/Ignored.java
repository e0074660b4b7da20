package io.warmpath.audit;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Vulnerabilities that somebody has looked at, and let be for a time. */
public final class Ignored {
    private static final Set<String> MEMBERS = Set.of("id", "reason", "until");

    private record Entry(String id, String reason, LocalDate until) {}

    private final List<Entry> entries;
    private final LocalDate today;

    private Ignored(List<Entry> entries, LocalDate today) {
        this.entries = entries;
        this.today = today;
    }

    public static Ignored nothing() {
        return new Ignored(List.of(), LocalDate.MIN);
    }

    /**
     * @param file a JSON array of objects with {@code id}, {@code reason} and {@code until}, the
     *     last day it counts
     * @throws AuditException when it is something else
     */
    public static Ignored read(Path file, LocalDate today) throws AuditException {
        JsonNode document = JsonFile.read(file);
        if (!document.isArray()) {
            throw new AuditException(file + ": no array of what is ignored");
        }
        List<Entry> entries = new ArrayList<>();
        for (JsonNode entry : document) {
            for (var member : entry.properties()) {
                if (!MEMBERS.contains(member.getKey())) {
                    throw new AuditException(file + ": an unknown member " + member.getKey());
                }
            }
            String id = JsonFile.text(file.toString(), entry, "id");
            String reason = JsonFile.text(file + ": " + id, entry, "reason");
            String until = JsonFile.text(file + ": " + id, entry, "until");
            try {
                entries.add(new Entry(id, reason, LocalDate.parse(until)));
            } catch (DateTimeException e) {
                throw new AuditException(file + ": " + id + ": `until` is no date: " + until);
            }
        }
        return new Ignored(entries, today);
    }

    boolean covers(Finding finding) {
        return entries.stream().anyMatch(e -> names(e, finding) && !e.until().isBefore(today));
    }

    private static boolean names(Entry entry, Finding finding) {
        return entry.id().equals(finding.id()) || finding.aliases().contains(entry.id());
    }

    /** What is to be said of the entries themselves: who is past its day, who is for nothing. */
    List<String> remarks(List<Finding> findings) {
        List<String> remarks = new ArrayList<>();
        for (Entry entry : entries) {
            if (findings.stream().noneMatch(f -> names(entry, f))) {
                remarks.add(entry.id() + " is ignored and was not found: take it out");
            } else if (entry.until().isBefore(today)) {
                remarks.add(
                        "%s was ignored until %s (%s) and counts again"
                                .formatted(entry.id(), entry.until(), entry.reason()));
            }
        }
        return remarks;
    }
}
