#include "oplog.hpp"

#include "kvindex.h"

namespace kvindex::replay {

oplog::oplog(const std::string& path) : m_file(path) {
    file_cursor cursor(m_file);
    m_header = cursor.take_as<oplog_header>("the header");
    check_header();
    // Every record needs four words: a false count must not reserve the machine's memory.
    if (m_header.records > cursor.left() / (sizeof(oplog_record) / 8)) {
        throw replay_error(path + ": too short for the " + std::to_string(m_header.records) +
                           " records that its header counts");
    }
    m_operations.reserve(m_header.records);
    for (std::uint64_t i = 0; i < m_header.records; i++) {
        const auto head = cursor.take_as<oplog_record>("a record's head");
        check_record(head, i);
        m_operations.push_back({head, cursor.take(payload_words(head), "a record's payload").data()});
    }
    if (cursor.left() != 0) {
        throw replay_error(path + ": " + std::to_string(cursor.left() * 8) + " bytes behind the last record");
    }
    check_sums();
}

void oplog::check_header() const {
    if (m_header.magic != oplog_magic) {
        throw replay_error(m_file.path() + ": not an op-log, it does not start with KVIXLOG1");
    }
    if (m_header.version != oplog_version) {
        throw replay_error(m_file.path() + ": op-log version " + std::to_string(m_header.version) +
                           ", this program reads " + std::to_string(oplog_version));
    }
    if (m_header.workers == 0 || m_header.workers > KVI_MAX_SLOTS) {
        throw replay_error(m_file.path() + ": " + std::to_string(m_header.workers) +
                           " workers, the index takes 1 to " + std::to_string(KVI_MAX_SLOTS));
    }
}

void oplog::check_record(const oplog_record& r, std::uint64_t number) const {
    const auto refuse = [&](const std::string& why) {
        throw replay_error(m_file.path() + ": record " + std::to_string(number) + ": " + why);
    };
    if (r.kind > op_kind::clear) {
        refuse("unknown kind " + std::to_string(static_cast<std::uint32_t>(r.kind)));
    }
    if (r.worker >= m_header.workers) {
        refuse("worker " + std::to_string(r.worker) + " of " + std::to_string(m_header.workers));
    }
    const bool counts = r.kind != op_kind::clear;
    if (counts != (r.blocks != 0) || r.blocks > KVI_MAX_BLOCKS) {
        refuse(std::to_string(r.blocks) + " blocks");
    }
    if (r.has_parent > 1 || (r.has_parent == 1 && r.kind != op_kind::store)) {
        refuse("has_parent is " + std::to_string(r.has_parent));
    }
}

void oplog::check_sums() const {
    oplog_header sums{};
    for (const operation& o : m_operations) {
        switch (o.head.kind) {
        case op_kind::query:
            sums.queries++;
            sums.query_blocks += o.head.blocks;
            break;
        case op_kind::store:
            sums.stores++;
            sums.stored_blocks += o.head.blocks;
            break;
        case op_kind::remove:
            sums.removes++;
            sums.removed_blocks += o.head.blocks;
            break;
        case op_kind::clear:
            break;
        }
    }
    if (sums.queries != m_header.queries || sums.stores != m_header.stores ||
        sums.removes != m_header.removes || sums.query_blocks != m_header.query_blocks ||
        sums.stored_blocks != m_header.stored_blocks || sums.removed_blocks != m_header.removed_blocks) {
        throw replay_error(m_file.path() + ": the header's sums are not those of its records");
    }
}

} // namespace kvindex::replay
