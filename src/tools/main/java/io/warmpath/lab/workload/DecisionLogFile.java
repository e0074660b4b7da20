package io.warmpath.lab.workload;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.zip.GZIPInputStream;

/**
 * Reads the file that a gateway wrote its decisions to ({@code --explain-decisions-file}), {@code
 * .gz} or not, into requests. One thread, used once; memory for all requests. A line that was cut
 * off is no error where that happens: at the end of the file, and before the first decision of a
 * gateway that was started again. Any other line that cannot be read is.
 */
public final class DecisionLogFile {
    private final Path file;
    private final String onlyModel;
    private final double lastMinutes;
    private final List<LoggedRequest> requests = new ArrayList<>();

    /** By number, since the gateway was started. */
    private final Map<Long, LoggedRequest> open = new HashMap<>();

    private final BlockIds ids = new BlockIds();
    private final TreeSet<String> models = new TreeSet<>();
    private final List<String> notes = new ArrayList<>();
    private int blockTokens;

    /** The most candidates of a decision: of whole requests, of prompts, of answers. */
    private int engines;

    private int prefills;
    private int decodes;
    private long expected;
    private long missing;

    private DecisionLogFile(Path file, String onlyModel, double lastMinutes) {
        this.file = file;
        this.onlyModel = onlyModel;
        this.lastMinutes = lastMinutes;
    }

    /**
     * @param onlyModel its requests alone; empty: all, which must be of one model
     * @param lastMinutes those before are left out
     * @param closed requests wait for the one that they continue
     * @throws IllegalArgumentException naming the line that cannot be read, or what is missing
     */
    public static Recorded read(Path file, String onlyModel, double lastMinutes, boolean closed)
            throws IOException {
        DecisionLogFile reader = new DecisionLogFile(file, onlyModel, lastMinutes);
        try (InputStream raw = Files.newInputStream(file);
                InputStream in =
                        new BufferedInputStream(
                                file.toString().endsWith(".gz") ? new GZIPInputStream(raw) : raw,
                                1 << 16)) {
            reader.lines(in);
        }
        return reader.recorded(closed);
    }

    private void lines(InputStream in) throws IOException {
        byte[] line = new byte[1 << 16];
        int length = 0;
        int number = 1;
        int cutOff = 0; // number of a line that could not be read
        String why = "";
        for (int b = in.read(); b >= 0 || length > 0; b = b < 0 ? b : in.read()) {
            if (b >= 0 && b != '\n') {
                if (length == line.length) {
                    line = Arrays.copyOf(line, 2 * length);
                }
                line[length++] = (byte) b;
                continue;
            }
            if (length > 0) {
                LogLine read = null;
                String problem = "";
                try {
                    read = LogLine.read(line, length);
                } catch (IOException | RuntimeException e) {
                    problem = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
                }
                boolean restarted = read != null && read.number == 0;
                if (cutOff > 0 && !restarted) {
                    throw damaged(cutOff, why);
                }
                if (cutOff > 0) {
                    notes.add("line " + cutOff + " was cut off when the gateway ended; left out");
                }
                cutOff = 0;
                if (read != null) {
                    add(read);
                } else if (b < 0) {
                    notes.add("the last line, " + number + ", is not complete; left out");
                } else {
                    cutOff = number;
                    why = problem;
                }
            }
            length = 0;
            number++;
        }
        if (cutOff > 0) {
            throw damaged(cutOff, why);
        }
    }

    private IllegalArgumentException damaged(int line, String why) {
        return new IllegalArgumentException(
                file + ", line " + line + " is not a line of a file of decisions: " + why);
    }

    private void add(LogLine line) {
        if (line.ended >= 0) {
            LoggedRequest of = open.get(line.ended);
            if (of != null) {
                of.ended(line);
            }
            return;
        }
        if (line.number == 0) {
            open.clear();
            expected = 0;
        }
        if (!requests.isEmpty() || line.number == 0) {
            missing += Math.max(0, line.number - expected);
        }
        expected = line.number + 1;
        if (!onlyModel.isEmpty() && !onlyModel.equals(line.model)) {
            return;
        }
        models.add(line.model);
        switch (line.part) {
            case "prefill" -> {
                prefills = Math.max(prefills, line.candidates);
                return; // the half that answers stands for the request
            }
            case "decode" -> decodes = Math.max(decodes, line.candidates);
            default -> engines = Math.max(engines, line.candidates);
        }
        LoggedRequest request = new LoggedRequest(line, ids);
        requests.add(request);
        open.put(line.number, request);
    }

    private Recorded recorded(boolean closed) {
        if (models.size() > 1) {
            throw new IllegalArgumentException(
                    "%s has requests for several models; choose one with --of-model: %s"
                            .formatted(file, String.join(", ", models)));
        }
        List<LoggedRequest> whole = new ArrayList<>();
        int failed = 0;
        int unknown = 0;
        int endless = 0;
        int nameless = 0;
        double answers = 0;
        int answered = 0;
        double from = requests.isEmpty() ? 0 : requests.getLast().millis - 60_000 * lastMinutes;
        for (LoggedRequest r : requests) {
            if (r.millis < from) {
                continue;
            }
            if (r.failed()) {
                failed++;
            } else if (r.prompt < 1) {
                unknown++;
            } else {
                whole.add(r);
                endless += r.output < 0 ? 1 : 0;
                nameless += r.hasNames() ? 0 : 1;
                answers += Math.max(0, r.output);
                answered += r.output >= 0 ? 1 : 0;
                if (r.hasNames()) {
                    blockTokens = blockTokens == 0 ? r.blockTokens : blockTokens;
                    if (blockTokens != r.blockTokens) {
                        throw new IllegalArgumentException(
                                ("%s has blocks of %s and of %s tokens; the lab's engines"
                                                + " have blocks of one size")
                                        .formatted(file, blockTokens, r.blockTokens));
                    }
                }
            }
        }
        if (whole.isEmpty()) {
            throw new IllegalArgumentException(
                    file
                            + " holds no request that can be played"
                            + (onlyModel.isEmpty() ? "" : " of the model " + onlyModel));
        }
        int mean = answered == 0 ? 1 : (int) Math.max(1, Math.round(answers / answered));
        tell(missing, "decisions are missing: the disk was too slow, see the gateway's metrics");
        tell(failed, "attempts without an answer; left out, the gateway's second try stands");
        tell(unknown, "requests whose prompt's length is not known; left out");
        tell(nameless, "requests whose prompt's blocks are not named: they can hit nothing");
        tell(endless, "answers of unknown length, played as " + mean + " tokens, the mean");
        if (blockTokens == 0) {
            blockTokens = 16;
        }
        return new LoggedSessions(whole, ids.size(), blockTokens, mean, closed)
                .recorded(Math.max(engines, prefills + decodes), notes);
    }

    private void tell(long count, String what) {
        if (count > 0) {
            notes.add(count + " " + what);
        }
    }
}
