package io.warmpath.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;

/** The operators' token of a gateway. {@code from}: what it was read from, for messages. */
record AdminToken(String secret, String from) {
    private static final String FILE_VARIABLE = "WARMPATH_ADMIN_TOKEN_FILE";
    private static final String VARIABLE = "WARMPATH_ADMIN_TOKEN";

    /** By flag, else by the environment; empty when there is none. */
    static Optional<AdminToken> find(Arguments args, Surroundings around) throws Trouble {
        Optional<String> file =
                args.value(Arguments.TOKEN_FILE).or(() -> around.variable(FILE_VARIABLE));
        if (file.isEmpty()) {
            return around.variable(VARIABLE).map(t -> new AdminToken(t.strip(), VARIABLE));
        }
        try {
            String secret = Files.readString(Path.of(file.get())).strip();
            if (secret.isEmpty() || !secret.chars().allMatch(c -> c > ' ' && c < 127)) {
                throw Trouble.usage("the file " + file.get() + " holds no token: one line of text");
            }
            return Optional.of(new AdminToken(secret, file.get()));
        } catch (IOException | InvalidPathException e) {
            throw Trouble.usage("the token's file " + file.get() + " cannot be read: " + e);
        }
    }

    @Override
    public String toString() {
        return "token of " + from;
    }
}
