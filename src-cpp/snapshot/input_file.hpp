/// Reads a snapshot into memory and checks everything that can be checked section by section and record by
/// record. What runs say of each other is the builder's business.
#pragma once

#include "snapshot/format.hpp"
#include "snapshot/report.hpp"

#include <memory>
#include <span>

namespace kvindex::snapshot {

class input_file {
public:
    /// Reads the whole file; throws failed, damaged or std::bad_alloc.
    explicit input_file(const std::string& path);

    const std::vector<watermark>& watermarks() const {
        return m_watermarks;
    }

    /// By slot number.
    const std::vector<slot_record>& slots() const {
        return m_slots;
    }

    /// The checked records of one index core, ascending by number.
    std::span<const std::uint64_t* const> runs(std::uint32_t part) const {
        return m_runs.at(part);
    }

    std::uint32_t parts() const {
        return static_cast<std::uint32_t>(m_runs.size());
    }

    bool quiet() const {
        return m_quiet;
    }

    std::uint64_t bytes() const {
        return m_bytes;
    }

    std::uint64_t byte_of(const std::uint64_t* word) const {
        return static_cast<std::uint64_t>(word - m_words.get()) * 8;
    }

private:
    void read(const std::string& path);
    void check();
    void check_section(const section_head& head, std::span<const std::uint64_t> payload);
    void check_runs(std::uint32_t part, std::span<const std::uint64_t> payload);
    void check_slots(std::span<const std::uint64_t> payload);
    void check_end(std::span<const std::uint64_t> payload);

    std::unique_ptr<std::uint64_t[]> m_words;
    std::uint64_t m_bytes = 0;
    std::vector<watermark> m_watermarks;
    std::vector<slot_record> m_slots;
    std::vector<std::vector<const std::uint64_t*>> m_runs;
    section_kind m_last{};
    bool m_quiet = false;
};

} // namespace kvindex::snapshot
