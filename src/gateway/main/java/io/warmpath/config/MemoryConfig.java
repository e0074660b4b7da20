package io.warmpath.config;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.ByteSize;
import io.warmpath.config.setting.Setting;

/** What the process may take of its machine's memory. */
public interface MemoryConfig {
    @WithDefault("0")
    @WithConverter(ByteSize.Reader.class)
    @Setting(
            doc =
                    "Resident memory that the process may have. The heap is the JVM's (-Xmx); index,"
                            + " prompts and buffers get what it leaves, and near the limit requests"
                            + " with bodies get 503. 0: what the container or the machine has.",
            flags = {"--memory-limit"})
    ByteSize limit();
}
