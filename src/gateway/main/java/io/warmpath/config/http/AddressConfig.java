package io.warmpath.config.http;

import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.Setting;
import java.util.List;

/**
 * Where workers may be that others than this configuration name. Part of {@link WarmpathConfig}.
 */
public interface AddressConfig {
    @WithDefault("*")
    @Setting(
            doc =
                    "Where workers may be that come by `POST /workers`, NATS or Kubernetes, and the"
                            + " event sockets and pool masters that they or their engines name:"
                            + " `[SCHEME://]HOST[:PORT[-PORT]]`, HOST a name, `*.SUFFIX`, an address or"
                            + " a range such as `10.0.0.0/8` (`[fd00::/8]:8000`), or `unix:/PATH`, with"
                            + " a slash at its end for all below it. `*`: anywhere, but for loopback,"
                            + " link-local, multicast and clouds' metadata addresses and socket files,"
                            + " which must be listed themselves. Workers of this configuration may be"
                            + " anywhere.",
            unit = "ADDRESS,ADDRESS,...")
    List<String> allowed();
}
