/// A file for one test.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

namespace kvindex::tests {

using bytes = std::vector<char>;

/// A file name of this test's own, gone at its end.
class scratch_file {
public:
    scratch_file()
        : m_path(std::filesystem::temp_directory_path() / ("kvindex.test." + std::to_string(::getpid()))) {
    }
    scratch_file(const scratch_file&) = delete;
    scratch_file& operator=(const scratch_file&) = delete;

    ~scratch_file() {
        std::error_code ignored;
        std::filesystem::remove(m_path, ignored);
    }

    std::string path() const {
        return m_path.string();
    }

    bytes read() const {
        std::ifstream in(m_path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    void write(const bytes& b) const {
        std::ofstream out(m_path, std::ios::binary | std::ios::trunc);
        out.write(b.data(), static_cast<std::streamsize>(b.size()));
    }

private:
    std::filesystem::path m_path;
};

} // namespace kvindex::tests
