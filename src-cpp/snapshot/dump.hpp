/// Takes the runs of an index core into memory, a few at a time, and from there into the file.
///
/// take() needs the writers' mutex, and a pin of the core's epochs from the first to the last of its calls:
/// while it lasts, no run number is given out twice and no cut run grows again, so (run, offset) means one
/// block in the whole file. flush() needs neither. One thread.
#pragma once

#include "snapshot/core_access.hpp"
#include "snapshot/output_file.hpp"

#include <chrono>
#include <vector>

namespace kvindex::snapshot {

class dump {
public:
    using clock = std::chrono::steady_clock;

    explicit dump(output_file& to);

    /// Before the first take() of a core, under the mutex too: later runs are not taken.
    void begin(index::core& from, std::uint32_t part);

    /// Takes runs until `until`, at least one, or until a section is full; false when none is left. One run of
    /// 8,191 blocks takes some ten microseconds.
    bool take(clock::time_point until);

    /// Writes what was taken if it fills a section, or in any case.
    void flush(bool any);

    std::uint64_t runs() const {
        return m_runs;
    }

private:
    void take_run(std::uint32_t run);
    void take_names(std::uint32_t names, std::uint32_t lines, std::uint32_t len, std::uint64_t* to) const;

    /// Room for more words at the end of what was taken.
    std::uint64_t* extend(std::size_t words);

    output_file& m_to;
    index::core* m_from = nullptr;
    std::uint32_t m_part = 0;
    std::uint32_t m_next = 0;
    std::uint32_t m_end = 0;
    std::uint64_t m_runs = 0;
    std::vector<std::uint64_t> m_words; // room; the first m_used are taken
    std::size_t m_used = 0;
};

} // namespace kvindex::snapshot
