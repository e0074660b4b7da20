/// The right answers of some of an op-log's queries, read and checked.
#pragma once

#include "oplog.hpp"

#include <vector>

namespace kvindex::replay {

/// The right answer of one query: who holds how much, ascending by worker. All others hold nothing.
struct answer {
    std::uint64_t query; ///< number among the queries
    std::uint32_t best;  ///< blocks
    std::vector<depth_pair> pairs;
};

/// Ascending by query, at least one. Throws replay_error when the file is damaged or belongs to another op-log.
std::vector<answer> read_answers(const std::string& path, const oplog& log);

} // namespace kvindex::replay
