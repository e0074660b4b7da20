package io.warmpath.config.tokens;

/** What turns prompts into token ids. */
public enum TokenizerImplementation {
    /** C++ for the files that it understands wholly, the tokenizers library for the others. */
    AUTO,
    /** The tokenizers library that engines use, always. */
    LIBRARY
}
