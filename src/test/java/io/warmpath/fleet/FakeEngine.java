package io.warmpath.fleet;

import io.warmpath.fleet.probe.EngineHttp;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Answers by path without a network; paths without an answer are 404. */
public final class FakeEngine implements EngineHttp {
    private final Map<String, Answer> answers = new HashMap<>();
    private final List<String> asked = new ArrayList<>();
    private final List<String> posted = new ArrayList<>();
    private final List<String> authorized = new ArrayList<>();
    private final List<String> patiently = new ArrayList<>();
    private final Set<String> late = new HashSet<>();
    private boolean down;
    private @Nullable String broken;

    public FakeEngine answer(String path, String body) {
        answers.put(path, new Answer(200, body));
        return this;
    }

    public FakeEngine status(String path, int status) {
        answers.put(path, new Answer(status, ""));
        return this;
    }

    public FakeEngine answer(String path, int status, String body) {
        answers.put(path, new Answer(status, body));
        return this;
    }

    /** No answer comes in time. */
    public FakeEngine late(String path) {
        late.add(path);
        return this;
    }

    /** The body of the answer by now; empty: none. */
    public String body(String path) {
        Answer answer = answers.get(path);
        return answer == null ? "" : answer.body();
    }

    /** The recorded answer in {@code src/test/resources/engines}. */
    public FakeEngine recorded(String path, String file) {
        try (InputStream in = FakeEngine.class.getResourceAsStream("/engines/" + file)) {
            if (in == null) {
                throw new IllegalArgumentException("no recording " + file);
            }
            return answer(path, new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Every question fails so. */
    public FakeEngine breaking(String message) {
        broken = message;
        return this;
    }

    public FakeEngine down() {
        down = true;
        return this;
    }

    public List<String> asked() {
        return asked;
    }

    @Override
    public Answer post(URI worker, String path, String json, String authorization)
            throws IOException {
        posted.add(json);
        authorized.add(String.valueOf(authorization));
        return get(worker, path);
    }

    /** What {@code authorization} said. */
    public List<String> authorized() {
        return authorized;
    }

    /** Bodies, in their order. */
    public List<String> posted() {
        return posted;
    }

    @Override
    public Answer get(URI worker, String path, Duration patience) throws IOException {
        patiently.add(path);
        return get(worker, path);
    }

    /** Paths that were asked with a patience of their own. */
    public List<String> patiently() {
        return patiently;
    }

    @Override
    public Answer get(URI worker, String path) throws IOException {
        asked.add(path);
        if (down) {
            throw new ConnectException("connection refused");
        }
        if (broken != null) {
            throw new IOException(broken);
        }
        if (late.contains(path)) {
            throw new SocketTimeoutException("no answer within 3000 ms");
        }
        return answers.getOrDefault(path, new Answer(404, "Not Found"));
    }
}
