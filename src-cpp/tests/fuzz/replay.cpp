/// Runs a fuzz body over files and folders of files: corpus replay without a fuzzer.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void replay(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::vector<char> text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    // An own block of exactly this size, so that the address sanitizer sees a byte too many.
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    std::printf("%s: %zu bytes\n", file.filename().c_str(), bytes.size());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

} // namespace

int main(int argc, char** argv) {
    std::size_t files = 0;
    for (int i = 1; i < argc; i++) {
        if (std::filesystem::is_directory(argv[i])) {
            for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
                replay(entry.path());
                files++;
            }
        } else {
            replay(argv[i]);
            files++;
        }
    }
    std::printf("%zu inputs\n", files);
    return files == 0 ? 1 : 0;
}
