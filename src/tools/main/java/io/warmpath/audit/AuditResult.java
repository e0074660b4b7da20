package io.warmpath.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Locale;

/**
 * What an audit found.
 *
 * @param compared components
 * @param records of our ecosystem that they were compared with
 * @param withdrawn records of all ecosystems that were taken back
 * @param findings what counts
 * @param ignored what was found and is let be
 * @param undecided records about our components that say nothing of versions
 * @param left components that no record can be about
 * @param remarks on entries of what is ignored
 */
public record AuditResult(
        int compared,
        long records,
        long withdrawn,
        List<Finding> findings,
        List<Finding> ignored,
        List<String> undecided,
        List<Component> left,
        List<String> remarks) {

    /** For people. */
    public String text() {
        StringBuilder text = new StringBuilder();
        for (Finding f : findings) {
            text.append(f.component()).append('\n').append("  ").append(f.id());
            if (!f.aliases().isEmpty()) {
                text.append(" (").append(String.join(", ", f.aliases())).append(')');
            }
            f.severity().forEach(rating -> text.append("  ").append(rating));
            text.append('\n');
            text.append("  ").append(f.summary()).append('\n');
            text.append("  fixed in ").append(f.fixed().isEmpty() ? "no version" : f.fixed());
            text.append("\n  next: ").append(f.next()).append('\n');
        }
        ignored.forEach(f -> line(text, "ignored: ", f.component() + ", " + f.id()));
        remarks.forEach(remark -> line(text, "ignored: ", remark));
        undecided.forEach(one -> line(text, "not decided: ", one));
        left.forEach(c -> line(text, "not compared, no package of Maven: ", c));
        return text.append(
                        String.format(
                                Locale.ROOT,
                                "%d components compared with %d records of Maven (%d withdrawn left"
                                        + " out): %d found, %d ignored, %d not decided%n",
                                compared,
                                records,
                                withdrawn,
                                findings.size(),
                                ignored.size(),
                                undecided.size()))
                .toString();
    }

    private static void line(StringBuilder text, String what, Object of) {
        text.append(what).append(of).append('\n');
    }

    /** For programs: the same, one object. */
    public JsonNode json() {
        JsonMapper mapper = new JsonMapper();
        ObjectNode all = mapper.createObjectNode();
        all.put("compared", compared).put("records", records).put("withdrawn", withdrawn);
        findings.forEach(f -> add(all.withArray("findings"), f));
        ignored.forEach(f -> add(all.withArray("ignored"), f));
        undecided.forEach(all.withArray("undecided")::add);
        left.forEach(c -> all.withArray("not_compared").add(c.toString()));
        remarks.forEach(all.withArray("remarks")::add);
        return all;
    }

    private static void add(ArrayNode to, Finding f) {
        ObjectNode one = to.addObject();
        one.put("package", f.component().name()).put("version", f.component().version());
        one.put("id", f.id()).put("summary", f.summary()).put("fixed", f.fixed());
        f.aliases().forEach(one.withArray("aliases")::add);
        f.severity().forEach(one.withArray("severity")::add);
        one.put("next", f.next());
    }
}
