/// An op-log, read and checked.
#pragma once

#include "mapped_file.hpp"
#include "oplog_format.hpp"

#include <vector>

namespace kvindex::replay {

/// One operation. `payload` lies in the file.
struct operation {
    oplog_record head;
    const std::uint64_t* payload;
};

/// Immutable. Costs 40 bytes a record beside the mapping.
class oplog {
public:
    /// Throws replay_error that names the file and the record when anything does not fit: magic, version,
    /// kind, worker, number of blocks, length, or a sum of the header.
    explicit oplog(const std::string& path);

    const oplog_header& header() const {
        return m_header;
    }

    const std::vector<operation>& operations() const {
        return m_operations;
    }

private:
    void check_header() const;
    void check_record(const oplog_record& r, std::uint64_t number) const;
    void check_sums() const;

    mapped_file m_file;
    oplog_header m_header{};
    std::vector<operation> m_operations;
};

} // namespace kvindex::replay
