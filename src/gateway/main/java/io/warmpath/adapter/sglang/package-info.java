/** What an SGLang worker says about itself. */
@org.jspecify.annotations.NullMarked
package io.warmpath.adapter.sglang;
