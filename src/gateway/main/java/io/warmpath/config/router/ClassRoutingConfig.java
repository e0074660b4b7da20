package io.warmpath.config.router;

import io.warmpath.config.setting.Setting;
import java.util.List;
import java.util.Optional;

/** Where requests of one policy class may go. */
public interface ClassRoutingConfig {
    @Setting(
            doc =
                    "Taints of workers that requests of this policy class tolerate: name,"
                            + " name=value, or `*` for all.",
            unit = "name=value,...")
    Optional<List<String>> tolerations();
}
