package io.warmpath.lab.workload;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPInputStream;

/** The recorded traces that come with the lab; their folder says whose they are. */
final class Trace {
    private static final int BLOCK = 512;

    private Trace() {}

    /**
     * Every request for itself, at its time: the trace does not say which one answers which.
     *
     * @param file in the folder {@code traces}
     */
    static Workload read(String file) {
        String place = "/io/warmpath/lab/traces/" + file + ".runs.gz";
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        try (InputStream in = Trace.class.getResourceAsStream(place)) {
            if (in == null) {
                throw new IllegalStateException("the lab's trace " + place + " is missing");
            }
            BufferedReader lines =
                    new BufferedReader(
                            new InputStreamReader(
                                    new GZIPInputStream(in), StandardCharsets.US_ASCII));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                add(to, line.split(" ", -1));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(place + " cannot be read", e);
        }
        return to.build();
    }

    /** {@code milliseconds input output first+count ...}. */
    private static void add(WorkloadBuilder to, String[] words) {
        int prompt = Integer.parseInt(words[1]);
        Segments all = Segments.EMPTY;
        for (int i = 3; i < words.length; i++) {
            int plus = words[i].indexOf('+');
            int first = Integer.parseInt(words[i].substring(0, plus));
            int count = Integer.parseInt(words[i].substring(plus + 1));
            to.usesIdsBelow(first + count);
            all = all.plus(first, count, BLOCK);
        }
        // The last id may stand for a part of a block: nobody can share that.
        int complete = Math.min(all.tokens() / BLOCK, prompt / BLOCK);
        to.add(
                to.size() + 1,
                Double.parseDouble(words[0]),
                prompt,
                Math.max(1, Integer.parseInt(words[2])),
                0,
                new int[0],
                all.ids(complete, 0));
    }
}
