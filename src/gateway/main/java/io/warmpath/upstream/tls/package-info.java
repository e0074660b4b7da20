/** How engines prove who they are, and how the gateway does: certificates and API keys. */
@org.jspecify.annotations.NullMarked
package io.warmpath.upstream.tls;
