/// The two things to do with a workload. Each prints one line of JSON on stdout; its keys are in README.md.
#pragma once

#include "answers.hpp"
#include "subject.hpp"
#include "workload.hpp"

#include <string>

namespace kvindex::replay {

/// How NAME of the command line drives the index.
struct variant {
    std::string name;
    bool batch; ///< events between two queries in one kvi_apply, else one kvi_apply each
    query_form form;
    bool inflight; ///< look-ups without an event in between go down together, in one kvi_match_batch
};

/// Everything that a mode needs. The workload was made for the slots of `fresh_subject`.
struct replay_input {
    const variant& how;
    const oplog& log;
    const workload& load;
    std::span<const std::uint32_t> slots;
};

/// A new index whose workers have the slots that the workload names. Throws replay_error when they differ.
class fresh_subject : public subject {
public:
    explicit fresh_subject(const replay_input& in);
};

/// Most look-ups of one call when they go down together.
inline constexpr std::size_t most_in_flight = 32;

/// Applies the events of a step, as the variant says.
void apply_events(subject& index, const replay_input& in, std::uint64_t first, std::uint64_t count);

/// Throughput and latency. Throws replay_error when the op-log has no query.
void time_mode(const replay_input& in);

/// Compares with the right answers; false when one differs.
bool check_mode(const replay_input& in, const std::vector<answer>& answers);

} // namespace kvindex::replay
