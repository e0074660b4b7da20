package io.warmpath.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;

/** Gives a drained worker requests again. */
final class ResumeCommand implements Command {
    @Override
    public String help() {
        return """
        Usage: ./warmpath resume WORKER [--json]

        A drained worker, by its name or id, gets requests again.

        Exit code: 0 done; 1 the gateway says no, for example as there is no such worker; 2 the
        gateway cannot be asked, or wrong use.
        """;
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
    public int run(Call call) throws Trouble {
        JsonNode row =
                call.gateway()
                        .post(
                                "/workers/" + Gateway.encoded(call.word(0)) + "/resume",
                                JsonNodeFactory.instance.objectNode());
        if (call.json()) {
            call.print(row);
            return 0;
        }
        String state = Words.text(row.path("state"));
        call.around()
                .out()
                .println(
                        Words.text(row.path("name"))
                                + (state.equals("ready")
                                        ? " gets requests again."
                                        : " is not drained any more, and gets requests once its"
                                                + " health check is answered (now "
                                                + state
                                                + ")."));
        return 0;
    }
}
