/// Writes a snapshot beside its name and gives it the name when it is whole and on disk: whoever opens the name
/// finds the old file or the new one. One thread.
#pragma once

#include "snapshot/format.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace kvindex::snapshot {

class output_file {
public:
    /// Writes PATH.part first; throws failed.
    explicit output_file(std::string path);
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    /// Removes what was written unless it was finished.
    ~output_file();

    /// One section, its payload a multiple of 8 bytes; throws failed.
    void write_section(section_kind kind, std::uint32_t part, std::span<const std::byte> payload);

    /// To disk, then under its name; throws failed.
    void finish();

    std::uint64_t bytes() const {
        return m_bytes;
    }

private:
    void write(const void* from, std::size_t bytes);
    [[noreturn]] void fail(const char* what) const;

    std::string m_path;
    std::string m_part;
    int m_file = -1;
    std::uint64_t m_bytes = 0;
    std::uint32_t m_sections = 0;
};

} // namespace kvindex::snapshot
