#include "modes.hpp"

#include <algorithm>

namespace kvindex::replay {

fresh_subject::fresh_subject(const replay_input& in) : subject(in.log.header().workers, in.how.form) {
    if (!std::equal(in.slots.begin(), in.slots.end(), slots().begin(), slots().end())) {
        throw replay_error("two new indexes give the same workers different slots");
    }
}

void apply_events(subject& index, const replay_input& in, std::uint64_t first, std::uint64_t count) {
    if (in.how.batch) {
        index.apply(in.load.events(first, count));
        return;
    }
    for (std::uint64_t i = first; i < first + count; i++) {
        index.apply(in.load.events(i, 1));
    }
}

} // namespace kvindex::replay
