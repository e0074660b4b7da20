package io.warmpath.wiring.settings;

import io.warmpath.config.http.AdminConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The token that operators send; read once, at start. */
public final class AdminToken {
    private AdminToken() {}

    /**
     * The token itself, or the content of its file without the line end; empty: none is asked for.
     *
     * @throws StartFailure when its file is empty or cannot be read
     */
    public static Optional<String> read(AdminConfig admin) {
        if (admin.token().isPresent() || admin.tokenFile().isEmpty()) {
            return admin.token();
        }
        Path file = Path.of(admin.tokenFile().get());
        try {
            String token = Files.readString(file).strip();
            if (token.isEmpty()) {
                throw new StartFailure("the file " + file + " (--admin-token-file) is empty");
            }
            return Optional.of(token);
        } catch (IOException e) {
            throw new StartFailure("the file " + file + " (--admin-token-file) cannot be read");
        }
    }
}
