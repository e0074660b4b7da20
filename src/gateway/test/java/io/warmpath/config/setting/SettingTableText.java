package io.warmpath.config.setting;

import java.util.List;

/** Writes the table that {@link SettingTable} reads. Stateless. */
public final class SettingTableText {
    private SettingTableText() {}

    public static String write(List<SettingKey> keys) {
        StringBuilder out = new StringBuilder();
        for (SettingKey k : keys) {
            SettingNotes n = k.setting();
            List<String> members =
                    List.of(
                            k.name(),
                            k.form().name(),
                            String.join(" ", k.choices()),
                            k.defaultValue() == null
                                    ? SettingTable.NO_DEFAULT
                                    : SettingTable.SOME_DEFAULT + k.defaultValue(),
                            Boolean.toString(k.required()),
                            n.doc(),
                            n.unset(),
                            n.unit(),
                            String.join(" ", n.flags()),
                            String.join(" ", n.offFlags()),
                            String.join(" ", n.env()),
                            Double.toString(n.min()),
                            Double.toString(n.max()),
                            n.minTime(),
                            n.maxTime(),
                            n.minSize(),
                            n.maxSize(),
                            Boolean.toString(n.secret()));
            out.append(String.join("\t", members)).append('\n');
        }
        return out.toString();
    }
}
