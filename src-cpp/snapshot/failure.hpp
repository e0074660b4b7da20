/// How the snapshot layer says no: exceptions that the facade turns into a report.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace kvindex::snapshot {

/// The file is not what it should be.
struct damaged : std::runtime_error {
    damaged(std::uint64_t byte, const std::string& what)
        : std::runtime_error("byte " + std::to_string(byte) + ": " + what) {
    }
};

/// The operating system said no.
struct failed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace kvindex::snapshot
