package io.warmpath.adapter.zmq;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.tools.ToolsMain;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A simulated engine in a process of its own, to be killed, stopped and started again. */
final class EngineProcess implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern LINE =
            Pattern.compile(
                    "http://[^:]+:(\\d+) .*events tcp://[^:]+:(\\d+) .*replay tcp://[^:]+:(\\d+)");

    private final HttpClient client = HttpClient.newHttpClient();
    private final List<String> flags;
    private final int[] ports = new int[3];
    private Process process;

    EngineProcess(String... flags) throws IOException {
        this.flags = List.of(flags);
        start();
    }

    /** On the ports that it had before, if it ran before. */
    void start() throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx128m",
                                "-XX:TieredStopAtLevel=1",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                ToolsMain.class.getName(),
                                "sim",
                                "--port",
                                String.valueOf(ports[0]),
                                "--events-port",
                                String.valueOf(ports[1]),
                                "--replay-port",
                                String.valueOf(ports[2])));
        command.addAll(flags);
        process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        BufferedReader out =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        for (String line = out.readLine(); ; line = out.readLine()) {
            if (line == null) {
                throw new IOException("the engine's process ended before it listened");
            }
            Matcher m = LINE.matcher(line);
            if (m.find()) {
                for (int i = 0; i < ports.length; i++) {
                    ports[i] = Integer.parseInt(m.group(i + 1));
                }
                break;
            }
        }
        // Its log must not fill the pipe.
        Thread.ofVirtual().start(() -> out.lines().forEach(l -> {}));
    }

    String events() {
        return "tcp://127.0.0.1:" + ports[1];
    }

    String replay() {
        return "tcp://127.0.0.1:" + ports[2];
    }

    /** Tokens of the prompt that were cached. */
    int complete(String prompt, Duration patience) throws IOException, InterruptedException {
        JsonNode answer =
                send(
                        HttpRequest.newBuilder(at("/v1/completions"))
                                .timeout(patience)
                                .header("content-type", "application/json")
                                .POST(
                                        HttpRequest.BodyPublishers.ofString(
                                                "{\"model\":\"demo\",\"max_tokens\":1,\"prompt\":"
                                                        + prompt
                                                        + "}")));
        return answer.at("/usage/prompt_tokens_details/cached_tokens").asInt();
    }

    /** Batches that it has numbered. */
    long published() throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(at("/sim/stats")).timeout(Duration.ofSeconds(20)))
                .at("/ranks/0/published_batches")
                .asLong();
    }

    private URI at(String path) {
        return URI.create("http://127.0.0.1:" + ports[0] + path);
    }

    private JsonNode send(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpResponse<String> answer =
                client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IOException(answer.statusCode() + " " + answer.body());
        }
        return JSON.readTree(answer.body());
    }

    /** SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** SIGSTOP: the kernel still takes what comes for it, and it does nothing. */
    void pause() throws IOException, InterruptedException {
        signal("-STOP");
    }

    void resume() throws IOException, InterruptedException {
        signal("-CONT");
    }

    private void signal(String name) throws IOException, InterruptedException {
        int rc = new ProcessBuilder("kill", name, String.valueOf(process.pid())).start().waitFor();
        if (rc != 0) {
            throw new IOException("kill " + name + ": " + rc);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
        client.shutdownNow();
    }
}
