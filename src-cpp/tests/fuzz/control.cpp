/// A fuzz body with a mistake that the search must find: it reads one byte past the end of inputs that begin in
/// a certain way. Shows that fuzzer and sanitizers are at work.
#include <cstddef>
#include <cstdint>
#include <memory>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[size]);
    for (std::size_t i = 0; i < size; i++) {
        exact[i] = data[i];
    }
    const bool planted = size >= 3 && exact[0] == 'k' && exact[1] == 'v' && exact[2] == '!';
    volatile std::uint8_t last = planted ? exact[size] : std::uint8_t{0};
    static_cast<void>(last);
    return 0;
}
