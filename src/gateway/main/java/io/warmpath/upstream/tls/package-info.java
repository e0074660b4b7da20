/** How engines prove who they are, and how the gateway does: certificates and API keys. */
@NullMarked
package io.warmpath.upstream.tls;

import org.jspecify.annotations.NullMarked;
