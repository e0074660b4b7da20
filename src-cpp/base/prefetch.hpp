/// Asking for a cache line ahead of time.
#pragma once

namespace kvindex {

/// A bare __builtin_prefetch in a small function is lost: GCC 12 takes the function for one without effects and
/// drops the calls. The empty volatile statement makes it one that has some.
[[gnu::always_inline]] inline void prefetch(const void* line) {
    __builtin_prefetch(line);
    asm volatile("" : : "r"(line));
}

/// The same for a line that will be written.
[[gnu::always_inline]] inline void prefetch_to_write(const void* line) {
    __builtin_prefetch(line, 1);
    asm volatile("" : : "r"(line));
}

} // namespace kvindex
