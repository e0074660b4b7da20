#include "answers.hpp"

#include <algorithm>

namespace kvindex::replay {

namespace {

/// Numbers of the queries among all records.
std::vector<std::uint64_t> query_records(const oplog& log) {
    std::vector<std::uint64_t> out;
    out.reserve(log.header().queries);
    for (std::uint64_t i = 0; i < log.operations().size(); i++) {
        if (log.operations()[i].head.kind == op_kind::query) {
            out.push_back(i);
        }
    }
    return out;
}

/// Says what is wrong with `a` as an answer to `query`, or nullptr.
const char* fault(const answer& a, const oplog_record& query, std::uint32_t workers) {
    std::uint32_t best = 0;
    for (std::size_t i = 0; i < a.pairs.size(); i++) {
        const depth_pair p = a.pairs[i];
        if (p.worker >= workers || (i != 0 && p.worker <= a.pairs[i - 1].worker)) {
            return "its workers are out of range or order";
        }
        if (p.depth == 0 || p.depth > query.blocks) {
            return "a depth is 0 or more than the query has";
        }
        best = std::max(best, p.depth);
    }
    return best == a.best ? nullptr : "its best depth is not the greatest";
}

} // namespace

std::vector<answer> read_answers(const std::string& path, const oplog& log) {
    const mapped_file file(path);
    file_cursor cursor(file);
    const auto header = cursor.take_as<answers_header>("the header");
    if (header.magic != answers_magic) {
        throw replay_error(path + ": not an answers file, it does not start with KVIXANS1");
    }
    if (header.answers == 0) {
        throw replay_error(path + ": no answers, nothing would be checked");
    }
    const std::vector<std::uint64_t> records = query_records(log);
    std::vector<answer> out;
    std::uint64_t pairs = 0;
    std::uint64_t checksum = 0;
    for (std::uint64_t i = 0; i < header.answers; i++) {
        const auto head = cursor.take_as<answer_record>("an answer");
        const auto words = cursor.take(head.pairs, "an answer's pairs");
        if (head.query >= records.size() || records[head.query] != head.record ||
            (!out.empty() && head.query <= out.back().query)) {
            throw replay_error(path + ": answer " + std::to_string(i) +
                               " names no next query of the op-log; "
                               "is it of another one?");
        }
        answer& a = out.emplace_back(answer{head.query, head.best, {}});
        a.pairs.reserve(words.size());
        for (const std::uint64_t word : words) {
            a.pairs.push_back(std::bit_cast<depth_pair>(word));
        }
        if (const char* what = fault(a, log.operations()[head.record].head, log.header().workers)) {
            throw replay_error(path + ": answer " + std::to_string(i) + ": " + what);
        }
        for (const depth_pair p : a.pairs) {
            checksum += pair_checksum(a.query, p);
        }
        pairs += head.pairs;
    }
    if (cursor.left() != 0) {
        throw replay_error(path + ": " + std::to_string(cursor.left() * 8) + " bytes behind the last answer");
    }
    if (pairs != header.pairs || checksum != header.checksum) {
        throw replay_error(path + ": the checksum is wrong, the file is damaged");
    }
    return out;
}

} // namespace kvindex::replay
