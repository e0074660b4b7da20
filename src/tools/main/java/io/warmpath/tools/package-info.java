/**
 * The programs beside the gateway: the commands of their jar, and what only their composition root
 * may know (the lab's indexes, capture's decoder and index).
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.tools;
