package io.warmpath.fleet.probe;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Collects what an engine tells of itself and what is not usable: a fact that is missing keeps no
 * engine from serving. One thread, one look at one engine.
 */
public final class Unread {
    /** Begins the text on event sockets. */
    public static final String EVENTS = "events";

    private static final int LONGEST = 200;
    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}+");

    private final List<String> all = new ArrayList<>();

    /** Takes a fact out of an answer. */
    @FunctionalInterface
    public interface Reading<T> {
        /** Throws when there is no such fact. */
        T read() throws IOException;
    }

    /** What is not usable and why, a sentence each, in the order of asking. */
    public List<String> all() {
        return List.copyOf(all);
    }

    /** {@code sentence}: what is not usable, a colon, and why. */
    public void add(String sentence) {
        all.add(printable(sentence, LONGEST));
    }

    /** Why {@code what} is not usable; empty: it is. */
    String of(String what) {
        String begin = what + ": ";
        return all.stream()
                .filter(s -> s.startsWith(begin))
                .map(s -> s.substring(begin.length()))
                .findFirst()
                .orElse("");
    }

    /**
     * One more question. An engine that has no such page tells nothing, and that is no news.
     *
     * @return the answer's body; empty where there is none that can be used
     * @throws IOException when the engine is gone, or the gateway cannot ask
     */
    public String page(URI worker, String path, String what, EngineHttp http) throws IOException {
        try {
            EngineHttp.Answer answer = http.get(worker, path);
            return isOffered(path, answer) ? answer.body() : "";
        } catch (ConnectException | NotAskedException e) {
            throw e;
        } catch (IOException e) {
            String said = String.valueOf(e.getMessage());
            add(what + ": " + (said.startsWith("GET ") ? said : "GET " + path + ": " + said));
            return "";
        }
    }

    /**
     * Whether there is such a page.
     *
     * @throws EngineAnswerException when the answer leaves that open: an error of the server's, or
     *     another place
     */
    public static boolean isOffered(String path, EngineHttp.Answer answer)
            throws EngineAnswerException {
        if (answer.status() >= 500 || answer.status() / 100 == 3) {
            throw new EngineAnswerException(
                    answer.status(), "GET " + path + " answered " + answer.status());
        }
        return answer.ok();
    }

    /** A fact, or {@code otherwise} where what is told of it makes no sense. */
    public <T> T read(String what, Reading<T> reading, T otherwise) throws NotAskedException {
        try {
            return reading.read();
        } catch (NotAskedException e) {
            throw e;
        } catch (IOException | IllegalArgumentException e) {
            add(what + ": " + e.getMessage());
            return otherwise;
        }
    }

    /** Without what would break a line or a terminal, and no longer than {@code most}. */
    static String printable(String text, int most) {
        String cut = text.length() <= most ? text : text.substring(0, most) + "...";
        return CONTROL.matcher(cut).replaceAll(" ");
    }
}
