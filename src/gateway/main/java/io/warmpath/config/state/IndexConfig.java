package io.warmpath.config.state;

import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import java.util.Optional;

/** The prefix index. */
public interface IndexConfig {
    @WithDefault("native")
    @Setting(
            doc =
                    "native: the C++ library; java: the literal reference, slow, for debugging."
                            + " There is no silent fallback.",
            flags = {"--index-implementation"})
    IndexImplementation implementation();

    @Setting(
            doc = "Folder with the native library; empty: the one packed into the jar.",
            unit = "path")
    Optional<String> nativePath();
}
