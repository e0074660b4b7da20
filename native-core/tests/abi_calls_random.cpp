/// Runs abi_calls over random bytes until enough calls were made; where no fuzzer is at hand.
///
///   KVI_CALLS=n     so many calls; default 200,000
///   KVI_SEED=n      only the input of this seed
#include "abi_calls.hpp"

#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <unistd.h>

namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

char replay[64];

void say_replay(int) {
    static_cast<void>(!::write(STDERR_FILENO, replay, std::strlen(replay)));
}

void run_one(std::uint64_t seed) {
    std::snprintf(replay, sizeof replay, "replay with KVI_SEED=%" PRIu64 "\n", seed);
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> bytes(200 + random() % 4000);
    for (std::uint8_t& b : bytes) {
        b = static_cast<std::uint8_t>(random());
    }
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

} // namespace

int main() {
    std::signal(SIGABRT, say_replay);
    const std::uint64_t only = number_from("KVI_SEED", 0);
    const std::uint64_t wanted = only != 0 ? 1 : number_from("KVI_CALLS", 200'000);
    std::uint64_t told = 0;
    for (std::uint64_t seed = only != 0 ? only : 1; abi_calls_made() < wanted; seed++) {
        run_one(seed);
        if (abi_calls_made() - told >= 1'000'000) {
            told = abi_calls_made();
            std::printf("%" PRIu64 " calls, seed %" PRIu64 "\n", told, seed);
            std::fflush(stdout);
        }
    }
    std::printf("%" PRIu64 " calls\n", abi_calls_made());
    return 0;
}
