/// The fuzz body of abi_calls.cpp, and how much it did.
#pragma once

#include <cstddef>
#include <cstdint>

/// Calls chosen since the program began.
std::uint64_t abi_calls_made();

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
