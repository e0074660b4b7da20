package io.warmpath.cli;

import com.fasterxml.jackson.databind.JsonNode;

/** One use of a command: what it was given, the gateway that it is about. */
record Call(Arguments arguments, Gateway gateway, Surroundings around) {
    boolean json() {
        return arguments.has(Arguments.JSON);
    }

    String word(int i) {
        return arguments.words().get(i);
    }

    Page page() {
        return new Page(around.columns(), around.colours());
    }

    void print(Page page) {
        page.lines().forEach(around.out()::println);
        around.out().flush();
    }

    /** As the gateway gave it, on one line. */
    void print(JsonNode json) {
        around.out().println(json);
        around.out().flush();
    }
}
