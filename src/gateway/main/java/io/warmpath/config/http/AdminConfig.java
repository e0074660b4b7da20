package io.warmpath.config.http;

import io.warmpath.config.setting.Setting;
import java.util.Optional;

/** Operators' endpoints. */
public interface AdminConfig {
    @Setting(
            doc =
                    "Bearer token of the admin endpoints (/workers). Without one they answer"
                            + " only to the machine itself.",
            secret = true)
    Optional<String> token();

    @Setting(
            doc = "File that holds the admin token, in place of `warmpath.admin.token`.",
            unit = "path",
            flags = {"--admin-token-file"})
    Optional<String> tokenFile();
}
