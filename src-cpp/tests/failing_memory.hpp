/// Lets memory run out where a test wants it: operator new and base/failure_point.hpp count together.
///
/// A program that links failing_memory.cpp has its operator new replaced. Per thread.
#pragma once

#include <cstdint>

namespace kvindex::tests {

enum class failing { once, from_then_on };

/// While it lives, the n-th allocation of this thread fails, alone or with all that follow; n counts from 1.
class failing_memory {
public:
    failing_memory(std::uint64_t n, failing how);
    ~failing_memory();
    failing_memory(const failing_memory&) = delete;
    failing_memory& operator=(const failing_memory&) = delete;

    /// Whether one failed so far.
    static bool tripped();

    /// How many of all failures in this thread were of failure points, not of operator new.
    static std::uint64_t points_tripped();
};

} // namespace kvindex::tests
