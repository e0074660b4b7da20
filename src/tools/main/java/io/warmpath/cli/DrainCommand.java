package io.warmpath.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Takes a worker out of choice; with {@code --wait} until nothing runs on it any more. */
final class DrainCommand implements Command {
    private static final String WAIT = "--wait";
    private static final String REASON = "--reason";
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(500);

    /**
     * A fleet's answer may be some moments old; for so many looks it may lack what we have done.
     */
    private static final int LOOKS_UNTIL_SEEN = 10;

    @Override
    public String help() {
        return """
        Usage: ./warmpath drain WORKER [--wait] [--reason TEXT] [--json]

        The worker, by its name or id, gets no new request; those that run there end by themselves.
        It stays in the fleet until ./warmpath resume WORKER. Several gateways: ask each of them.

          --wait             return when nothing runs there any more
          --reason TEXT      what other operators read as its problem

        Exit code: 0 done; 1 the gateway says no, for example as there is no such worker; 2 the
        gateway cannot be asked, or wrong use.
        """;
    }

    @Override
    public Set<String> switches() {
        return Set.of(WAIT);
    }

    @Override
    public Set<String> valued() {
        return Set.of(REASON);
    }

    @Override
    public int fewestWords() {
        return 1;
    }

    @Override
    public int mostWords() {
        return 1;
    }

    @Override
    public int run(Call call) throws Trouble, InterruptedException {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        call.arguments().value(REASON).ifPresent(reason -> body.put("reason", reason));
        JsonNode row =
                call.gateway().post("/workers/" + Gateway.encoded(call.word(0)) + "/drain", body);
        String name = Words.text(row.path("name"));
        boolean wait = call.arguments().has(WAIT);
        if (!call.json()) {
            call.around()
                    .out()
                    .println(
                            name
                                    + " gets no new requests."
                                    + (wait ? "" : " Those that run there end by themselves."));
            call.around().out().flush();
        }
        JsonNode last = wait ? waited(call, row.path("id").asText(), name) : row;
        if (call.json()) {
            call.print(last == null ? row : last);
        } else if (wait) {
            call.around()
                    .out()
                    .println(last == null ? name + " has left the fleet." : "Nothing runs there.");
        }
        return 0;
    }

    /** The worker's row when nothing runs there, null when the worker has left. */
    private static @Nullable JsonNode waited(Call call, String id, String name)
            throws Trouble, InterruptedException {
        boolean seen = false;
        long told = -1;
        for (int looks = 1; ; looks++) {
            JsonNode worker = worker(call.gateway().get("/fleet?history=false"), id);
            if (worker == null) {
                return null;
            }
            boolean drained = Verdict.isDrained(worker);
            long running = running(worker);
            seen |= drained;
            if (drained && running == 0) {
                return worker;
            }
            if (seen && !drained) {
                throw new Trouble(Trouble.REFUSED, "somebody has resumed " + name + ".");
            }
            if (!seen && looks == LOOKS_UNTIL_SEEN) {
                throw new Trouble(
                        Trouble.REFUSED,
                        ("the gateway at %s does not show %s as drained: where several"
                                        + " gateways share this address, ask each at its own.")
                                .formatted(call.gateway().base(), name));
            }
            if (drained && running != told) {
                told = running;
                call.around().err().println(Words.count((double) running) + " running on " + name);
            }
            call.around().pause().of(BETWEEN_LOOKS);
        }
    }

    private static @Nullable JsonNode worker(JsonNode fleet, String id) {
        for (JsonNode worker : fleet.path("workers")) {
            if (worker.path("id").asText().equals(id)) {
                return worker;
            }
        }
        return null;
    }

    private static long running(JsonNode worker) {
        long running = 0;
        for (JsonNode rank : worker.path("ranks")) {
            running += rank.path("running").asLong();
        }
        return running;
    }
}
